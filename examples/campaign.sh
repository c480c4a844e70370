#!/usr/bin/env bash
# The same decision in the shell: a log of visits in, a recommendation out.
#
#   bash examples/campaign.sh [FOLDER] [more options of dgd fit, like --epochs 200]
#
# The first line draws a log to work on; with your own, leave it out.
set -euo pipefail
folder=${1:-campaign-output}
shift || true
python "$(dirname "$0")/campaign.py" --write "$folder"

# Visits per day in Berlin, shop, kind of customer and joint behaviour.
dgd count "$folder/visits.csv" --time time --timezone Europe/Berlin --unit shop \
    --cohort customers --behaviors open,click,buy --output "$folder/counts.csv"

# The last two weeks are kept for the test.
ends=(--train-end 2022-03-27 --validation-end 2022-04-10)
data=("$folder/counts.csv" --behaviors open,click,buy --effort "$folder/effort.csv")
dgd backtest "${data[@]}" "${ends[@]}" --horizons 1,7 --seeds 1,2 "$@"
dgd fit "${data[@]}" "${ends[@]}" --seeds 1,2 --output "$folder/model.dgd" "$@"

# The week ahead with the campaign for either kind of customers.
for customers in new regular; do
    dgd forecast "$folder/model.dgd" --horizon 7 --effort "$folder/plan-$customers.csv" \
        --output "$folder/week-$customers.csv"
    awk -F, -v customers="$customers" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "buy") column = i }
        NR > 1 { total += $column }
        END { printf "campaign for %s customers: %.1f purchases expected\n", customers, total }' \
        "$folder/week-$customers.csv"
done
