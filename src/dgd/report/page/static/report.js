// Makes a report answer: choices of unit, cohort and series, and the knobs of its what-if parts.
// Every number comes from a block of rows that the page holds; between two of them, straight on.
"use strict";
{
  const tables = new Map();

  // The rows of a block, and which of its columns hold texts.
  function rowsOf(name) {
    if (!tables.has(name)) {
      const columns = JSON.parse(document.getElementById(`rows-${name}`).textContent);
      const texts = Object.keys(columns).filter(
        (key) => columns[key].texts && !columns[key].moments);
      tables.set(name, { texts, rows: dgdRows(columns) });
    }
    return tables.get(name);
  }

  const choice = (name) => document.querySelector(`[data-choice="${name}"]`);

  // The rows that the reader has chosen, by every text column that there is a choice of.
  function chosenRows(name) {
    const { texts, rows } = rowsOf(name);
    const wanted = texts.filter(choice).map((key) => [key, choice(key).value]);
    return rows.filter((row) => wanted.every(([key, value]) => row[key] === value));
  }

  // `value` of the rows at `at`, between those of the two nearest places along a column.
  function between(rows, along, at, value) {
    const sorted = [...rows].sort((a, b) => a[along] - b[along]);
    const above = sorted.findIndex((row) => row[along] >= at);
    if (above <= 0) return sorted.at(above)[value];
    const [low, high] = [sorted[above - 1], sorted[above]];
    const share = (at - low[along]) / (high[along] - low[along]);
    return low[value] + share * (high[value] - low[value]);
  }

  const figures = { maximumSignificantDigits: 3 };
  const count = (value) =>
    value.toLocaleString("en", Math.abs(value) < 100 ? figures : { maximumFractionDigits: 0 });
  const percent = (after, before) =>
    before > 0
      ? (after / before - 1).toLocaleString("en", {
          style: "percent", signDisplay: "exceptZero", maximumFractionDigits: 1,
        })
      : "";

  function tell(name, text) {
    for (const place of document.querySelectorAll(`[data-says="${name}"]`)) place.textContent = text;
  }

  // A table of plan and change, and the chart of both, for the knob of the days ahead.
  function whatIf() {
    const rows = chosenRows("whatif");
    const at = Number(choice("multiple").value);
    const days = new Map();
    for (const row of rows) days.set(+row.date, [...(days.get(+row.date) ?? []), row]);
    const changed = [...days.values()].map((own) => ({
      date: own[0].date,
      "as planned": between(own, "multiple", 1, "expected"),
      changed: between(own, "multiple", at, "expected"),
    }));
    const sum = (part) => changed.reduce((total, day) => total + day[part], 0);
    const [before, after] = [sum("as planned"), sum("changed")];
    tell("whatif-planned", count(before));
    tell("whatif-changed", count(after));
    tell("whatif-more", (after > before ? "+" : "") + count(after - before));
    tell("whatif-percent", percent(after, before));
    const beyond = at > Math.max(...rows.filter((row) => row.seen).map((row) => row.multiple), 1);
    document.getElementById("whatif-beyond").hidden = !beyond;
    return changed.flatMap((day) =>
      ["as planned", "changed"].map((part) => ({ date: day.date, part, value: day[part] })));
  }

  // What a price sells and earns; the slider spans the prices of the product.
  function pricing() {
    const rows = chosenRows("prices");
    const slider = choice("price");
    const prices = rows.map((row) => row.price);
    const [least, most] = [Math.min(...prices), Math.max(...prices)];
    if (slider.dataset.of !== rows[0].product) {
      slider.dataset.of = rows[0].product;
      Object.assign(slider, { min: least, max: most, step: (most - least) / 100 || 1 });
      slider.value = rows[0].usual;
      show(slider);
    }
    const at = Number(slider.value);
    for (const measure of ["count", "revenue", "revenue of all"]) {
      const now = between(rows, "price", at, measure);
      const usual = between(rows, "price", rows[0].usual, measure);
      tell(`price-${measure}`, count(now));
      tell(`price-${measure}-more`, percent(now, usual));
    }
    return rows.map((row) => ({ ...row, chosen: at }));
  }

  const MADE = { whatif: whatIf, prices: pricing };

  // The rows of a chart that shows what is chosen.
  window.dgdChosen = (name) => (MADE[name] ? MADE[name]() : chosenRows(name));

  function show(input) {
    const shown = document.querySelector(`[data-shows="${input.dataset.choice}"]`);
    if (!shown) return;
    const value = Number(input.value);
    shown.textContent = input.dataset.choice === "multiple" ? `× ${value.toFixed(2)}` : count(value);
  }

  function update() {
    for (const figure of document.querySelectorAll("figure[data-rows]")) {
      figure.view?.resize().data("rows", dgdChosen(figure.dataset.rows)).run();
    }
    for (const place of document.querySelectorAll("[data-told]")) {
      place.textContent = chosenRows(place.dataset.told)[0]?.words ?? "";
    }
  }

  document.addEventListener("input", (event) => {
    if (!event.target.dataset.choice) return;
    show(event.target);
    update();
  });
  document.querySelectorAll("[data-choice]").forEach(show);
  dgdDraw(document);
}
