// Draws the charts of a page: every figure that holds one and is not drawn yet.
"use strict";
{
  const LOOK = {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    config: {
      font: "system-ui, sans-serif",
      axis: { labelFontSize: 12, titleFontSize: 12 },
      legend: { labelFontSize: 12, labelLimit: 240 },
      title: { fontSize: 14, anchor: "start", fontWeight: 600 },
      header: { labelFontSize: 12 },
      view: { stroke: null },
      background: null,
    },
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
    const spec = JSON.parse(figure.querySelector("script.spec").textContent);
    const { view } = await vegaEmbed(figure.querySelector(".place"), spec, LOOK);
    figure.view = view;
    keepReadable(figure.querySelector(".place"));
    figure.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }

  // All figures inside `root`; resolves when the last one stands.
  window.dgdDraw = (root) =>
    Promise.all([...root.querySelectorAll("figure.chart:not([data-drawn])")].map(draw));
}
