"""What the crowd carries from one day to the next: a file per state, and how they are led."""
