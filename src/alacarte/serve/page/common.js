// What all views share: making elements, asking the server, the address, ways out. Text of corpora is only ever set as text.

const svgTags = new Set(["svg", "line", "circle", "ellipse", "text", "g", "title", "path", "polyline", "polygon", "rect"]);

export function element(tag, attributes = {}, ...children) {
  const made = svgTags.has(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function svgLink(href, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "a");
  made.setAttribute("href", href);
  made.append(...children);
  return made;
}

// ------------------------------------------------------------------------------------------------------- asking

function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) for (const item of [value].flat()) if (item !== "" && item !== undefined && item !== null) query.append(name, item);
  return query;
}

async function respond(path, values, post, signal) {
  const options = post
    ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values), signal }
    : { signal };
  const response = await fetch(post ? path : `${path}?${queryOf(values)}`, options);
  if (!response.ok) throw problem(await response.json());
  return response;
}

const problem = (answer) => new Error([answer.error, answer.hint].filter(Boolean).join("; "));

export const ask = async (path, values = {}, post = false, signal = undefined) =>
  (await respond(path, values, post, signal)).json();

// A long question: `show` is told how far it has come; aborting the signal ends the work on the server too.
export async function job(path, values, show, signal, post = false) {
  const reader = (await respond(path, values, post, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the server ended before the answer was there; is it still running?");
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.progress) show(message.progress);
      else if (message.error) throw problem(message);
      else return message.answer;
    }
  }
}

// A button that starts a long question, shows where it is, and can be stopped.
export function longQuestion(label, path, values, show) {
  const place = element("div", { class: "long", "aria-live": "polite" });
  const start = element("button", { type: "button", class: "plain", onclick: begin }, label);
  async function begin() {
    const stop = new AbortController(), bar = element("progress", { "aria-label": label }), told = element("span", { class: "hint" }, "starting …");
    place.replaceChildren(bar, " ", told, " ", element("button", { type: "button", class: "plain", onclick: () => stop.abort() }, "Stop"));
    try {
      const answer = await job(path, values(), (now) => {
        told.textContent = `${now.phase} …`;
        if (now.total) { bar.max = now.total; bar.value = now.done; } else bar.removeAttribute("value");
      }, stop.signal);
      place.replaceChildren();
      await show(answer, place);
    } catch (error) {
      if (error.name === "AbortError") place.replaceChildren(start);
      else { say(place, error); place.append(start); }
    }
  }
  place.append(start);
  place.begin = begin;
  return place;
}

export const about = () => (known ??= ask("/api/about"));
export const forgetAbout = () => { known = null; };
let known = null;

// --------------------------------------------------------------------------------------------------- the address

export const state = () => new URLSearchParams(location.search);

export function addressOf(path, values) {
  const query = queryOf(values);
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  return query.size ? `${path}?${query}` : path;
}

export const go = (path, values, replace = false) => history[replace ? "replaceState" : "pushState"](null, "", addressOf(path, values));

// ----------------------------------------------------------------------------------------------------- in words

export const whole = (value) => value.toLocaleString("en");
export const number = (value) => (value === null || value === undefined ? "unknown" : value.toFixed(Math.abs(value) < 0.1 ? 3 : 2));
export const percent = (value) => (value < 1 && value > 0.99 ? "over 99 %" : `${Math.round(100 * value)} %`);
export const chance = (value) => (value === null ? "unknown" : value < 0.001 ? "less than 1 in 1,000" : `${value.toFixed(3)}`);

// An interval that holds every likeness says that nothing is known.
export const isKnown = (item) => item.conf_low !== null && item.conf_low !== undefined && item.conf_high - item.conf_low < 1.99;

export function sure(confidence, of) {
  if (confidence === null) return element("p", { class: "hint" }, "How sure this is cannot be known from so little text.");
  return element("p", { class: "sure" }, element("b", {}, percent(confidence)), element("span", { class: "hint" }, of));
}

export function say(place, error) {
  place.replaceChildren(element("p", { class: "wrong", role: "alert" }, error.message));
}

// --------------------------------------------------------------------------------------------------- the ways out

export function tools({ rows, name, python, command, pictures = [] }) {
  const written = element("pre", { hidden: true, tabindex: "0" });
  const show = (text) => () => { written.hidden = !written.hidden && written.textContent === text; written.textContent = text; };
  const button = (label, act) => element("button", { type: "button", onclick: act }, label);
  const copy = button("Copy link", async () => {
    try { await navigator.clipboard.writeText(location.href); copy.textContent = "Copied"; }
    catch { copy.textContent = location.href; }
  });
  const safe = name.replace(/[^\p{L}\p{N}]+/gu, "-") || "view";
  return element("div", {}, element("div", { class: "tools" }, copy,
    rows && button("CSV", () => download(new Blob([csv(rows)], { type: "text/csv" }), `${safe}.csv`)),
    pictures.length > 0 && button("SVG", () => pictures.forEach((picture, place) => download(new Blob([svgText(picture)], { type: "image/svg+xml" }), numbered(safe, place, "svg")))),
    pictures.length > 0 && button("PNG", () => pictures.forEach(async (picture, place) => download(await png(picture), numbered(safe, place, "png")))),
    python && button("Show the Python", show(python)),
    command && button("Show the command", show(command))), written);
}

const numbered = (name, place, ending) => (place ? `${name}-${place + 1}.${ending}` : `${name}.${ending}`);

export const quoted = (text) => JSON.stringify(text);
export const shell = (...words) => words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
export const named = (phrase) => (phrase.includes("*") ? ["--glob", phrase] : ["--word", phrase]);
export const conditions = (option, list) => list.flatMap((condition) => [option, condition]);
export const sliced = (path, where) => `Concordance(${quoted(path)})${where.length ? `.where(${where.map(quoted).join(", ")})` : ""}`;

export function csv(rows) {
  const names = rows.length ? Object.keys(rows[0]) : [];
  const guard = (text) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
  const cell = (value) => `"${guard(String(value ?? "")).replaceAll('"', '""')}"`;
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",")).join("\n");
}

export function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-size", "font-family", "font-weight", "opacity"];

// A picture by itself, as it looks here: colours and fonts are written into it.
export function svgText(picture) {
  const copy = picture.cloneNode(true), from = [picture, ...picture.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((part, place) => {
    const look = getComputedStyle(part);
    for (const name of STYLES) to[place].setAttribute(name, look.getPropertyValue(name));
    to[place].removeAttribute("href");
  });
  const box = picture.viewBox.baseVal;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", box.width);
  copy.setAttribute("height", box.height);
  return new XMLSerializer().serializeToString(copy);
}

export async function png(picture, behind = null) {
  const box = picture.viewBox.baseVal, canvas = element("canvas", { width: 2 * box.width, height: 2 * box.height });
  const pen = canvas.getContext("2d"), image = new Image();
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  if (behind) pen.drawImage(behind, 0, 0, canvas.width, canvas.height);
  image.src = URL.createObjectURL(new Blob([svgText(picture)], { type: "image/svg+xml" }));
  await image.decode();
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => { canvas.toBlob(done); });
}

// ---------------------------------------------------------------------------------------------------- shared forms

// The choice of a corpus and of a part of it by its columns; `name` tells two of them apart.
export async function sliceForm(name, corpusName, where) {
  const there = await about(), suffix = name ? `-${name}` : "";
  const chosen = there.corpora.find((item) => item.name === corpusName) ?? there.corpora[0];
  const corpus = element("select", { id: `corpus${suffix}` }, there.corpora.map((item) =>
    element("option", { value: item.name, selected: item === chosen }, item.name)));
  const taken = new Set();
  const filters = chosen.columns.filter((column) => column.values !== null).map((column) => {
    const now = where.find((text) => text.startsWith(`${column.name}=`) && column.values.some((value) => `${column.name}=${value}` === text));
    if (now) taken.add(now);
    const select = element("select", { id: `where${suffix}-${column.name}`, "data-column": column.name }, element("option", { value: "" }, "all"),
      column.values.map((value) => element("option", { value: String(value), selected: `${column.name}=${value}` === now }, String(value))));
    return element("div", {}, element("label", { for: select.id }, column.name), select);
  });
  const rest = element("input", { id: `conditions${suffix}`, value: where.filter((text) => !taken.has(text)).join("; "), placeholder: chosen.columns.length ? `${chosen.columns[0].name}>=…` : "", autocomplete: "off" });
  const place = element("div", { class: "asks" },
    element("div", { hidden: there.corpora.length < 2 }, element("label", { for: corpus.id }, "Corpus"), corpus), ...filters,
    chosen.columns.length ? element("div", {}, element("label", { for: rest.id }, "Other conditions"), rest) : null);
  return {
    place,
    chosen,
    corpus: () => corpus.value,
    where: () => [
      ...[...place.querySelectorAll("[data-column]")].filter((select) => select.value).map((select) => `${select.dataset.column}=${select.value}`),
      ...rest.value.split(";").map((text) => text.trim()).filter(Boolean),
    ],
  };
}

// A note on the view that is open, kept on the server.
export function noteForm() {
  const text = element("textarea", { id: "note", rows: 3 }), title = element("input", { id: "note-title", autocomplete: "off" });
  const told = element("span", { class: "hint", role: "status" });
  const form = element("form", { onsubmit: async (event) => {
    event.preventDefault();
    try {
      await ask("/api/note", { address: location.pathname + location.search, title: title.value || document.querySelector("h1").textContent.slice(0, 200), text: text.value }, true);
      told.textContent = "Kept, under Notes.";
      text.value = "";
    } catch (error) { told.textContent = error.message; }
  } }, element("label", { for: "note-title" }, "A title"), title, element("label", { for: "note" }, "What you see here"), text,
    element("button", { type: "submit", class: "plain" }, "Keep this view"), " ", told);
  return element("details", { class: "keep" }, element("summary", {}, "Keep this view, with a note"), form);
}

export function noCorpus(main) {
  main.replaceChildren(element("h1", {}, "No corpus yet"), element("p", { class: "lede" }, "Add one under ",
    element("a", { href: "/corpora" }, "Corpora"), ", or start the page with one:"),
    element("pre", {}, "alc concordance build reviews.jsonl --vectors glove.6B.50d --out reviews.concordance\nalc serve reviews.concordance"));
}

// The model of the address, for questions and commands.
export async function modelOf() {
  const there = await about(), name = state().get("model") ?? "";
  return there.models.find((item) => item.name === name) ?? there.models[0];
}
