"""What the past alone says: the forecast that departures of the model are measured from."""
