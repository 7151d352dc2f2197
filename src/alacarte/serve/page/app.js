// The page: a view for each path, its state in the query of the address. Text of corpora is only ever set as text.

const main = document.querySelector("#main");

function element(tag, attributes = {}, ...children) {
  const made = tag === "svg" || svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
const svgTags = new Set(["line", "circle", "text", "g", "title"]);

async function ask(path, values, post = false, signal = undefined) {
  const query = new URLSearchParams();
  if (!post) for (const [name, value] of Object.entries(values)) for (const item of [value].flat()) query.append(name, item);
  const options = post
    ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values), signal }
    : { signal };
  const response = await fetch(post ? path : `${path}?${query}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error([answer.error, answer.hint].filter(Boolean).join("; "));
  return answer;
}

const about = ask("/api/about", {}); // what there is: asked once

// ------------------------------------------------------------------------------------------------ the address

const state = () => new URLSearchParams(location.search);

function go(path, values, replace = false) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) for (const item of [value].flat()) if (item) query.append(name, item);
  const address = query.size ? `${path}?${query}` : path;
  history[replace ? "replaceState" : "pushState"](null, "", address);
}

// ---------------------------------------------------------------------------------------------- shared pieces

function likeness(nearest, label) {
  const height = 30 + nearest.length * 29, x = (value) => 150 + value * 350;
  const picture = element("svg", { viewBox: `0 0 520 ${height}`, role: "img", "aria-label": label });
  for (const value of [0, 0.25, 0.5, 0.75, 1]) {
    picture.append(element("line", { class: "grid", x1: x(value), x2: x(value), y1: 8, y2: height - 22 }));
    picture.append(element("text", { class: "axis", x: x(value), y: height - 6, "text-anchor": "middle" }, String(value)));
  }
  nearest.forEach((item, place) => {
    const y = 22 + place * 29, within = (value) => Math.max(0, Math.min(1, value));
    picture.append(element("text", { x: 140, y: y + 5, "text-anchor": "end", "font-size": 15 }, item.other));
    const kind = known(item) ? "" : " unknown", value = known(item) ? item.estimate : item.cosine;
    if (item.conf_low !== null)
      picture.append(element("line", { class: `interval${kind}`, x1: x(within(item.conf_low)), x2: x(within(item.conf_high)), y1: y, y2: y }));
    picture.append(element("circle", { class: `point${kind}`, cx: x(within(value)), cy: y, r: 5.5 }));
  });
  const rows = nearest.map((item) => element("tr", {}, element("td", {}, item.other),
    ...["estimate", "conf_low", "conf_high"].map((name) => element("td", {}, known(item) ? number(item[name]) : "unknown"))));
  const names = ["word", "likeness", "at least", "at most"].map((name) => element("th", { scope: "col" }, name));
  const table = element("table", {}, element("caption", {}, label), element("thead", {}, element("tr", {}, ...names)),
    element("tbody", {}, ...rows));
  return element("div", {}, picture, element("div", { class: "unseen" }, table));
}

// An interval that holds every likeness says that nothing is known.
const known = (item) => item.conf_low !== null && item.conf_high - item.conf_low < 1.99;
const number = (value) => (value === null ? "unknown" : value.toFixed(2));
const percent = (value) => `${Math.round(100 * value)} %`;

function sure(confidence, of) {
  if (confidence === null)
    return element("p", { class: "hint" }, "How sure this is cannot be known from one sentence.");
  return element("p", { class: "sure" }, element("b", {}, percent(confidence)), element("span", { class: "hint" }, of));
}

function tools(rows, name, code) {
  const written = element("pre", { hidden: true, tabindex: "0" }, code);
  const copy = element("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(location.href); copy.textContent = "Copied"; }
    catch { copy.textContent = location.href; }
  } }, "Copy link");
  return element("div", {}, element("div", { class: "tools" }, copy,
    element("button", { type: "button", onclick: () => download(csv(rows), `${name}.csv`) }, "CSV"),
    element("button", { type: "button", onclick: () => { written.hidden = !written.hidden; } }, "Show the Python")), written);
}

function csv(rows) {
  const names = rows.length ? Object.keys(rows[0]) : [];
  const guard = (text) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
  const cell = (value) => `"${guard(String(value ?? "")).replaceAll('"', '""')}"`;
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((row) => row.map(cell).join(",")).join("\n");
}

function download(text, name) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

function say(place, error) {
  place.replaceChildren(element("p", { class: "wrong", role: "alert" }, error.message));
}

// ------------------------------------------------------------------------------------------------------ invent

const EXAMPLE = [
  "They drank a bottle of fine french blorp with their meal.",
  "A glass of chilled blorp goes well with oysters and lemon.",
  "The vineyard sold its best blorp to restaurants in Paris.",
];

function invent() {
  const given = state(), sentences = given.getAll("sentence");
  const word = element("input", { id: "target", value: given.get("word") ?? "blorp", autocomplete: "off", spellcheck: "false" });
  const text = element("textarea", { id: "sentences", spellcheck: "false" });
  text.value = (sentences.length ? sentences : EXAMPLE).join("\n");
  const heading = element("h1", {}), shaded = element("div", { "aria-live": "off" }), result = element("div", { "aria-live": "polite" });
  let waiting = null;

  async function answer() {
    waiting?.abort();
    waiting = new AbortController();
    const name = word.value.trim(), lines = text.value.split("\n").map((line) => line.trim()).filter(Boolean);
    heading.replaceChildren("What could ", element("em", {}, name || "…"), " mean?");
    go("/invent", { word: name, sentence: lines }, true);
    if (!name || !lines.length) return;
    try {
      const told = await ask("/api/invent", { sentences: lines, word: name }, true, waiting.signal);
      await show(told, name, lines);
    } catch (error) {
      if (error.name !== "AbortError") say(result, error);
    }
  }

  async function show(told, name, lines) {
    const largest = Math.max(...told.words.map((item) => item.share), 1e-9);
    const share = new Map(told.words.map((item) => [item.word, item.share]));
    const target = new Set(name.toLowerCase().split(/\s+/));
    shaded.replaceChildren(...told.tokens.map((tokens) => element("p", { class: "sentence" }, ...tokens.flatMap((token) => {
      const part = share.get(token) ?? 0;
      const shade = element("span", target.has(token) ? { class: "target" } : { class: "share", title: percent(part) }, token);
      shade.style.setProperty("--s", Math.round(60 * Math.max(0, part) / largest));
      return [shade, " "];
    }))));
    const code = `from alacarte import ALaCarte, explain\n\nmodel = ${(await about).model}\n`
      + `explain(model, ${JSON.stringify(lines, null, 4)}, ${JSON.stringify(name)})`;
    result.replaceChildren(...[
      sure(told.confidence, `of what many sentences would tell, from ${told.contexts}`),
      told.nearest === null
        ? element("p", { class: "hint" }, "One more sentence, and the nearest words appear with how sure each is.")
        : likeness(told.nearest, `The words most like ${name}, with 95 percent intervals`),
      told.nearest?.some(known) ? null : element("p", { class: "hint" }, "Grey: so few sentences cannot tell how alike. More of them sharpen it."),
      tools(told.nearest ?? told.words, name, code),
    ].filter(Boolean));
  }

  let timer;
  const soon = () => { clearTimeout(timer); timer = setTimeout(answer, 60); };
  word.addEventListener("input", soon);
  text.addEventListener("input", soon);
  main.replaceChildren(heading,
    element("p", { class: "lede" }, "Make up a word and use it in a sentence. What it could mean appears beside it, with how sure one can be. Shaded words are the ones it comes from."),
    element("div", { class: "two" },
      element("div", {}, element("label", { for: "target" }, "The word"), word,
        element("h2", {}, element("label", { for: "sentences" }, "Sentences, one a line")), text,
        element("h2", {}, "What each word adds"), shaded),
      element("div", {}, element("h2", {}, "Nearest words"), result)));
  answer();
}

// -------------------------------------------------------------------------------------------------------- word

async function word() {
  const there = await about;
  if (!there.corpora.length) {
    main.replaceChildren(element("h1", {}, "No corpus yet"), element("p", { class: "lede" },
      "Build one, and open it here:"), element("pre", {}, "alc concordance build reviews.jsonl --vectors glove.6B.50d --out reviews.concordance\nalc serve reviews.concordance"));
    return;
  }
  const given = state(), conditions = given.getAll("where");
  const phrase = element("input", { id: "phrase", type: "search", value: given.get("phrase") ?? "", autocomplete: "off" });
  const corpus = element("select", { id: "corpus" }, ...there.corpora.map((item) =>
    element("option", { value: item.name, selected: item.name === given.get("corpus") }, item.name)));
  const chosen = there.corpora.find((item) => item.name === given.get("corpus")) ?? there.corpora[0];
  const filters = chosen.columns.filter((column) => column.values !== null).map((column) => {
    const now = conditions.find((text) => text.startsWith(`${column.name}=`))?.slice(column.name.length + 1);
    const select = element("select", { id: `where-${column.name}`, "data-column": column.name }, element("option", { value: "" }, "all"),
      ...column.values.map((value) => element("option", { value: String(value), selected: String(value) === now }, String(value))));
    return element("div", {}, element("label", { for: select.id }, column.name), select);
  });
  const heading = element("h1", {}), lede = element("p", { class: "lede" }), near = element("div", { "aria-live": "polite" });
  const body = element("tbody", {}), head = element("tr", {}), table = element("table", { class: "lines" }, element("thead", {}, head), body);
  const more = element("p", { class: "hint" });

  const asked = () => ({
    corpus: corpus.value,
    phrase: phrase.value.trim(),
    where: [...main.querySelectorAll("[data-column]")].filter((select) => select.value).map((select) => `${select.dataset.column}=${select.value}`),
  });

  async function answer(push = true) {
    const values = asked();
    if (push) go("/word", values);
    body.replaceChildren();
    more.replaceChildren();
    if (!values.phrase) {
      heading.replaceChildren("Which word or phrase?");
      lede.textContent = `${chosen.documents.toLocaleString("en")} documents, ${chosen.tokens.toLocaleString("en")} words. Type one above and press Enter.`;
      near.replaceChildren();
      return;
    }
    heading.replaceChildren(element("em", {}, values.phrase));
    lede.textContent = "…";
    try {
      const told = await ask("/api/word", values);
      lede.textContent = `${told.uses.toLocaleString("en")} uses in ${told.documents.toLocaleString("en")} documents.`;
      const slice = values.where.length ? `.where(${values.where.map((text) => JSON.stringify(text)).join(", ")})` : "";
      const code = `from alacarte import ALaCarte, Concordance\n\nmodel = ${there.model}\n`
        + `corpus = Concordance(${JSON.stringify(chosen.path)})${slice}\n`
        + `induced = corpus.induce(model, [${JSON.stringify(values.phrase)}])\n`
        + `induced.uncertainty.nearest(${JSON.stringify(values.phrase)})\ncorpus.lines(${JSON.stringify(values.phrase)})`;
      near.replaceChildren(sure(told.confidence, "of what endless text of this kind would tell"),
        likeness(told.nearest, `The words most like ${values.phrase} here, with 95 percent intervals`), tools(told.nearest, values.phrase, code));
      await load(values, 0);
    } catch (error) {
      lede.textContent = "";
      say(near, error);
    }
  }

  async function load(values, skip) {
    const told = await ask("/api/lines", { ...values, skip, limit: 50 });
    const columns = chosen.columns.map((column) => column.name);
    head.replaceChildren(...["before", "match", "after", ...columns].map((name) => element("th", { scope: "col" }, name)));
    for (const line of told.lines) {
      body.append(element("tr", {}, element("td", { class: "before" }, line.before), element("td", { class: "match" }, line.match),
        element("td", {}, line.after), ...columns.map((name) => element("td", { class: "value" }, String(line[name] ?? "")))));
    }
    const shown = skip + told.lines.length;
    more.replaceChildren(`${shown.toLocaleString("en")} of ${told.count.toLocaleString("en")} lines. `,
      shown < told.count ? element("button", { type: "button", onclick: () => load(values, shown) }, "More lines") : "");
  }

  const form = element("form", { role: "search", onsubmit: (event) => { event.preventDefault(); answer(); } },
    element("div", { class: "asks" }, element("div", {}, element("label", { for: "phrase" }, "Word or phrase"), phrase),
      there.corpora.length > 1 ? element("div", {}, element("label", { for: "corpus" }, "Corpus"), corpus) : null, ...filters));
  form.addEventListener("change", (event) => { if (event.target.tagName === "SELECT") answer(); });
  main.replaceChildren(form, heading, lede, element("div", { class: "two" },
    element("div", {}, element("h2", {}, "The lines behind it"), element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Lines" }, table), more),
    element("div", { class: "answer" }, element("h2", {}, "Nearest words"), near)));
  await answer(false);
}

// ------------------------------------------------------------------------------------------------------- views

const VIEWS = { "/": invent, "/invent": invent, "/word": word };

async function open() {
  const path = location.pathname in VIEWS ? location.pathname : "/invent";
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.pathname === path || (path === "/" && link.pathname === "/invent");
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  try { await VIEWS[path](); } catch (error) { say(main, error); }
}

document.querySelector("nav").addEventListener("click", (event) => {
  if (event.target.tagName !== "A" || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  history.pushState(null, "", event.target.getAttribute("href"));
  open().then(() => main.focus());
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    main.querySelector("input")?.focus();
  }
});
addEventListener("popstate", open);
about.then((there) => {
  const corpora = there.corpora.map((corpus) => `${corpus.name}, ${corpus.documents.toLocaleString("en")} documents`);
  const vectors = `${there.vectors.words.toLocaleString("en")} words, ${there.vectors.dimensions} dimensions`;
  document.querySelector("#where").textContent = [...corpora, vectors].join(" · ");
}).catch(() => {});
open();
