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

  const NARROW = "(max-width: 40rem)";
  const AXIS = 70; // pixels beside a panel
  const NAMES = 100; // and where names of rows stand beside it, too
  const NARROWEST = 520;

  // Of panels side by side the first may have the names of all; below each other each needs them.
  function named(spec) {
    const axis = spec.encoding?.y?.axis;
    if (axis) delete axis.labels;
    const header = spec.facet?.row?.header;
    if (header) delete header.labels;
    const inside = [spec.spec, ...(spec.layer || []), ...(spec.hconcat || []), ...(spec.vconcat || [])];
    inside.filter(Boolean).forEach(named);
  }

  function rename(parts, from, to) {
    if (!parts?.[from]) return;
    parts[to] = parts[from];
    delete parts[from];
  }

  // On a narrow page panels stand below each other, as wide as the page lets them.
  function stacked(spec, room) {
    if (spec.hconcat) named(spec);
    for (const part of spec.hconcat || spec.vconcat || []) stacked(part, room);
    rename(spec, "hconcat", "vconcat");
    rename(spec.facet, "column", "row");
    if (spec.columns) spec.columns = 1;
    const panel = spec.spec || spec;
    const axis = panel.encoding?.y?.axis;
    const words = axis?.labelLimit ? 150 : 0; // long labels stand behind their bars
    if (words) axis.orient = "right";
    const header = spec.facet?.row && spec.facet.row.header?.labelOrient !== "top";
    const most = room - words - (header ? NAMES : 0);
    if (panel.width > most) panel.width = most;
  }

  // The caption of a figure is title enough there.
  function refit(spec, width) {
    delete spec.title;
    spec.config = { ...spec.config, legend: { ...spec.config?.legend, orient: "bottom" } };
    stacked(spec, width - AXIS);
  }

  // A chart of fixed width shrinks where there is no room, but not until its words cannot be
  // read: from there on its place scrolls, by keyboard too.
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
    if (matchMedia(NARROW).matches) refit(spec, figure.clientWidth);
    const { view } = await vegaEmbed(figure.querySelector(".place"), spec, LOOK);
    figure.view = view;
    keepReadable(figure.querySelector(".place"));
    figure.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }

  // All figures inside `root`; resolves when the last one stands.
  window.dgdDraw = (root) =>
    Promise.all([...root.querySelectorAll("figure.chart:not([data-drawn])")].map(draw));
}
