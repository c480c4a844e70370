// The app's script: sends forms, puts answers into their places, tells of fits, takes files.
"use strict";

const GONE = "The app does not answer any more; start dgd serve again.";
const STOPPED = "Stopped; nothing of this fit was kept.";
const running = new WeakMap(); // the request under way for every place that an answer goes to

// This script comes before the page, so that no form is sent without it; drawing waits for the rest.
const ready = new Promise((done) => document.addEventListener("DOMContentLoaded", done));
const tell = (words) => { document.getElementById("told").textContent = words; };

function refuse(place, words) {
  const said = document.createElement("p");
  said.className = "refused";
  said.setAttribute("role", "alert");
  said.textContent = words;
  place.replaceChildren(said);
}

// Put HTML of the app into its place, and draw the charts in it.
async function show(place, html) {
  for (const figure of place.querySelectorAll("figure.chart")) figure.view?.finalize();
  place.innerHTML = html;
  await draw(place).catch(console.error); // sentences and tables stand without their charts
}

async function draw(root) {
  await ready;
  await window.dgdDraw(root);
}

const isJson = (answer) => (answer.headers.get("content-type") || "").includes("json");

async function send(form, submitter, byHand) {
  const place = document.getElementById(submitter?.dataset.into || form.dataset.into);
  running.get(place)?.abort();
  const stop = new AbortController();
  running.set(place, stop);
  const action = submitter?.getAttribute("formaction") || form.getAttribute("action");
  place.setAttribute("aria-busy", "true");
  try {
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(action, { method: "POST", body, signal: stop.signal });
    if (isJson(answer)) {
      location.assign((await answer.json()).go);
      return;
    }
    await show(place, await answer.text());
    if (byHand) {
      place.tabIndex = -1;
      place.focus({ preventScroll: true });
      place.scrollIntoView({ block: "nearest" });
    }
    if (answer.ok) tell("Done.");
  } catch (error) {
    if (error.name !== "AbortError") refuse(place, GONE);
  } finally {
    if (running.get(place) === stop) {
      running.delete(place);
      place.removeAttribute("aria-busy");
    }
  }
}

// A fit: its lines are told as they come; leaving the page or Stop ends it.
async function fit(form) {
  const place = document.getElementById(form.dataset.into);
  const part = document.getElementById(form.dataset.fit);
  const button = form.querySelector("button[type=submit]");
  const stop = new AbortController();
  const begun = Date.now();
  const stopping = part.querySelector("[data-stop]");
  const clock = setInterval(() => {
    const seconds = Math.round((Date.now() - begun) / 1000);
    part.querySelector("[data-elapsed]").textContent = `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  }, 500);
  button.disabled = true;
  stopping.onclick = () => stop.abort();
  place.replaceChildren();
  try {
    const body = new URLSearchParams(new FormData(form));
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body, signal: stop.signal });
    if (!answer.ok) {
      await show(place, await answer.text());
      return;
    }
    part.hidden = false;
    window.onbeforeunload = (event) => event.preventDefault(); // leaving would end the fit
    stopping.focus();
    tell("The fit is under way.");
    for await (const line of linesOf(answer)) heard(part, place, line);
  } catch (error) {
    refuse(place, error.name === "AbortError" ? STOPPED : GONE);
  } finally {
    clearInterval(clock);
    window.onbeforeunload = null;
    part.hidden = true;
    button.disabled = false;
  }
}

async function* linesOf(answer) {
  let rest = "";
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) yield JSON.parse(line);
  }
}

function heard(part, place, line) {
  if (line.refused) refuse(place, line.refused);
  else if (line.go) {
    tell("The fit is done.");
    window.onbeforeunload = null;
    location.assign(line.go);
  } else if (line.seeds) {
    const rows = line.seeds.map((seed) => seedRow(seed, line.epochs));
    part.querySelector("[data-seeds]").replaceChildren(...rows);
  } else {
    const row = part.querySelector(`[data-seed="${line.seed}"]`);
    const bar = row.querySelector("progress");
    // A seed may train from two places at once: shown are the furthest and the best.
    bar.value = Math.max(bar.value, line.epochs);
    row.best = Math.min(row.best ?? Infinity, line.best ?? Infinity);
    const best = Number.isFinite(row.best) ? `, best validation ${row.best.toFixed(4)}` : "";
    row.querySelector("[data-said]").textContent = `epoch ${bar.value} of at most ${bar.max}${best}`;
  }
}

function seedRow(seed, epochs) {
  const row = document.createElement("div");
  row.dataset.seed = seed;
  const bar = document.createElement("progress");
  Object.assign(bar, { max: epochs, value: 0 });
  bar.setAttribute("aria-label", `seed ${seed}`);
  const name = document.createElement("strong");
  name.textContent = `seed ${seed}`;
  const said = document.createElement("span");
  said.dataset.said = "";
  said.className = "soft";
  said.textContent = "compiling";
  row.append(name, bar, said);
  return row;
}

// Files that are dropped or chosen: each is sent as it is.
async function take(drop, files) {
  const place = drop.querySelector(".answer");
  const found = [];
  drop.setAttribute("aria-busy", "true");
  try {
    for (const file of files) {
      tell(`Sending ${file.name}.`);
      const name = encodeURIComponent(file.name);
      const answer = await fetch(`upload?name=${name}`, { method: "POST", body: file });
      if (!isJson(answer)) {
        await show(place, await answer.text());
        return;
      }
      found.push(await answer.json());
    }
    if (drop.dataset.options) offer(drop, place, found);
    else if (found.length) location.assign((found.find((one) => one.counts !== "no") || found[0]).go);
  } catch {
    refuse(place, GONE);
  } finally {
    drop.removeAttribute("aria-busy");
  }
}

function offer(drop, place, found) {
  for (const select of document.querySelectorAll(drop.dataset.options)) {
    for (const one of found) select.add(new Option(one.name, one.value));
  }
  place.textContent = `${found.map((one) => one.name).join(", ")} can be chosen now.`;
}

function shownValue(input) {
  const shown = input.closest("label").querySelector("output");
  shown.textContent = `${input.value}${shown.dataset.unit}`;
}

document.addEventListener("submit", (event) => {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.fit) fit(form);
  else send(form, event.submitter, true);
});
document.addEventListener("input", (event) => {
  if (event.target.type === "range") shownValue(event.target);
});
const waiting = new WeakMap();
function soon(form) {
  clearTimeout(waiting.get(form));
  waiting.set(form, setTimeout(() => send(form, null, false), 250));
}
document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (event.target.type === "file") take(event.target.closest("[data-drop]"), event.target.files);
  else if (form?.dataset.live && event.target.name !== "name" && form.reportValidity()) soon(form);
});
document.addEventListener("reset", (event) => {
  setTimeout(() => {
    for (const input of event.target.querySelectorAll("input[type=range]")) shownValue(input);
    if (event.target.dataset.live) soon(event.target);
  });
});
function takeFiles(drop) {
  const over = (event) => { event.preventDefault(); drop.classList.add("over"); };
  drop.addEventListener("dragover", over);
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    take(drop, event.dataTransfer.files);
  });
}
// A page that comes back keeps what its sliders were set to.
window.addEventListener("pageshow", () => {
  document.querySelectorAll("input[type=range]").forEach(shownValue);
});
ready.then(() => {
  document.querySelectorAll("[data-drop]").forEach(takeFiles);
  document.querySelectorAll("form[data-at-once]").forEach((form) => send(form, null, false));
  return draw(document);
}).catch(console.error);
