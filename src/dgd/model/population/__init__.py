"""Who is out there: the distribution of response propensities in each cohort."""
