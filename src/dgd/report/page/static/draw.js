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

  async function draw(figure) {
    figure.dataset.drawn = "";
    const spec = JSON.parse(figure.querySelector("script.spec").textContent);
    const { view } = await vegaEmbed(figure.querySelector(".place"), spec, LOOK);
    figure.view = view;
    figure.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  }

  // All figures inside `root`; resolves when the last one stands.
  window.dgdDraw = (root) =>
    Promise.all([...root.querySelectorAll("figure.chart:not([data-drawn])")].map(draw));
}
