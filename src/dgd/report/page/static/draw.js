// Draws the charts of a page: every figure that holds one and is not drawn yet.
"use strict";
{
  const LOOK = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    config: {
      font: "system-ui, sans-serif",
      // what a chart shows is said in words and in a table: its marks need not be read one by one
      mark: { aria: false },
      axis: { labelFontSize: 12, titleFontSize: 12, aria: false },
      legend: { labelFontSize: 12, labelLimit: 240, aria: false },
      title: { fontSize: 14, anchor: "start", fontWeight: 600, aria: false },
      header: { labelFontSize: 12 },
      view: { stroke: null },
      background: null,
    },
  };

  // Rows as objects, of packed columns: texts are written once, and moments become dates.
  window.dgdRows = (columns) => {
    const read = Object.entries(columns).map(([name, { texts, values, moments }]) => {
      const known = moments ? texts.map((text) => new Date(text)) : texts;
      return [name, known ? values.map((at) => known[at]) : values];
    });
    const length = read.length ? read[0][1].length : 0;
    return Array.from({ length }, (_, at) =>
      Object.fromEntries(read.map(([name, values]) => [name, values[at]])));
  };

  const NARROWEST = 520;

  // A chart of fixed width shrinks on a narrow screen, but not until its words cannot be read:
  // from there on its place scrolls, by keyboard too.
  function keepReadable(place) {
    const svg = place.querySelector("svg");
    svg.style.minWidth = `${Math.min(svg.width.baseVal.value, NARROWEST)}px`;
    if (place.scrollWidth > place.clientWidth) {
      place.tabIndex = 0;
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", "chart, scrolls sideways");
    }
  }

  async function draw(figure) {
    figure.dataset.drawn = "";
    const { spec, datasets } = JSON.parse(figure.querySelector("script.chart").textContent);
    spec.datasets = Object.fromEntries(
      Object.entries(datasets).map(([name, columns]) => [name, dgdRows(columns)]));
    if (figure.dataset.rows) spec.datasets.rows = dgdChosen(figure.dataset.rows);
    const { view } = await vegaEmbed(figure.querySelector(".place"), spec, LOOK);
    figure.view = view;
    keepReadable(figure.querySelector(".place"));
    figure.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }

  // All figures inside `root`; resolves when the last one stands.
  window.dgdDraw = (root) =>
    Promise.all([...root.querySelectorAll("figure.chart:not([data-drawn])")].map(draw));
}
