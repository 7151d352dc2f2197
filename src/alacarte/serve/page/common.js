// What all views share: making elements, asking the server, the address. Text of corpora is only ever set as text.

const svgTags = new Set([
  "svg",
  "line",
  "circle",
  "ellipse",
  "text",
  "g",
  "title",
  "path",
  "polyline",
  "polygon",
  "rect",
]);

export function element(tag, attributes = {}, ...children) {
  const made = svgTags.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export function svgLink(href, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "a");
  made.setAttribute("href", href);
  made.append(...children);
  return made;
}

// The children of a place are those of `items`, by key: what stays is not replaced, so that it keeps focus and clicks.
// `make` gives the element of a new item, `renew` tells one that stays what has changed.
/** @param {(kept: any, item: any) => void} renew */
export function keyed(place, items, keyOf, make, renew = () => {}) {
  const keys = items.map((item) => String(keyOf(item)));
  const wanted = new Set(keys);
  const there = new Map([...place.children].map((child) => [child.dataset.key, child]));
  for (const [key, child] of there) if (!wanted.has(key)) child.remove();
  let next = place.firstElementChild;
  items.forEach((item, at) => {
    const kept = there.get(keys[at]);
    if (kept) renew(kept, item);
    const child = kept ?? make(item);
    child.dataset.key = keys[at];
    if (child === next) next = next.nextElementSibling;
    else place.insertBefore(child, next);
  });
}

// ------------------------------------------------------------------------------------------------------- asking

function queryOf(values) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values))
    for (const item of [value].flat()) if (item !== "" && item !== undefined && item !== null) query.append(name, item);
  return query;
}

async function respond(path, values, post, signal) {
  const options = post
    ? { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values), signal }
    : { signal };
  let response;
  try {
    response = await fetch(post ? path : `${path}?${queryOf(values)}`, options);
  } catch (error) {
    throw error.name === "AbortError" ? error : away();
  }
  if (!response.ok) throw problem(read(await response.text(), response.status));
  return response;
}

// What was said, if it is ours; a proxy, or a server that fell over, says something else.
function read(text, status) {
  try {
    return JSON.parse(text);
  } catch {
    return {
      error: `The server could not answer this (status ${status})`,
      hint: "try again; what went wrong is written where the server was started",
    };
  }
}

// The library speaks of targets, the page of words.
const problem = (answer) =>
  new Error(
    [answer.error, answer.hint]
      .filter(Boolean)
      .join("; ")
      .replace(/`?\btarget(s?)\b`?/g, "word$1"),
  );
const away = () => Object.assign(new Error("The server does not answer; is it still running?"), { away: true });

// The answer; that of a question which was given up meanwhile (`signal`) never comes. Answers about corpora are kept a
// while, so that the way back is short.
const answers = new Map();
const LASTING = new Set(["/api/word", "/api/quality", "/api/compare", "/api/over", "/api/map"]);
const MANY = 80;

export async function ask(path, values = {}, post = false, signal = undefined) {
  const question = `${path}?${queryOf(values)}`;
  if (answers.has(question)) return answers.get(question);
  const response = await respond(path, values, post, signal);
  const answer = read(await response.text(), response.status);
  signal?.throwIfAborted();
  if (answer.error) throw problem(answer);
  if (LASTING.has(path)) answers.set(question, answer);
  if (answers.size > MANY) answers.delete(answers.keys().next().value);
  return answer;
}

// A long question, answered in lines of JSON: `show` is given how far it has come; aborting the signal ends the work
// on the server too.
export async function job(path, values, show, signal, post = false) {
  const response = await respond(path, values, post, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw error.name === "AbortError" ? error : away();
    });
    signal?.throwIfAborted();
    const lines = (rest + (value ?? "")).split("\n");
    rest = lines.pop();
    for (const message of lines.map((line) => read(line, response.status))) {
      if (message.error) throw problem(message);
      if (message.answer !== undefined) return message.answer;
      show(message.progress);
    }
    if (done) throw away();
  }
}

// Questions by what asks them: whoever asks again gives up what was asked before, and all are given up with their view.
const asking = new Map();

export async function current(asker, work, wrong) {
  const mine = new AbortController();
  asking.get(asker)?.abort();
  asking.set(asker, mine);
  try {
    await work(mine.signal, mine);
  } catch (error) {
    if (error.name === "AbortError" || mine.signal.aborted) return;
    if (error.constructor !== Error) console.error(error); // a mistake of the page, not of the question
    wrong(error);
  }
}

export function giveUp(...askers) {
  for (const asker of askers.length ? askers : [...asking.keys()]) {
    asking.get(asker)?.abort();
    asking.delete(asker);
  }
}

// A button that starts a long question, shows where it is, and can be stopped. That it was opened is in the address
// under `name`; the last answers are kept, so that the way back does not ask again.
const kept = new Map();

// The answer to a long question: one of the last few, or what `work` gives; whoever asks meanwhile waits for the same.
export async function keptAnswer(path, values, work) {
  const question = `${path}?${queryOf(values)}`;
  if (!kept.has(question)) {
    const answer = work();
    kept.set(question, answer);
    answer.catch(() => kept.delete(question));
    if (kept.size > 6) kept.delete(kept.keys().next().value);
  }
  return kept.get(question);
}

export function longQuestion({ label, name, path, values, show }) {
  const place = element("div", { class: "long", "aria-live": "polite" });
  const start = element("button", { type: "button", class: "plain", onclick: begin }, label);
  const bar = element("progress", { "aria-label": label });
  const told = element("span", { class: "hint" });
  const progress = (now) => {
    told.textContent = `${now.phase} …`;
    if (now.total) Object.assign(bar, { max: now.total, value: now.done });
    else bar.removeAttribute("value");
  };
  async function work(signal, mine) {
    const stop = () => {
      mine.abort();
      remember({ [name]: "" });
      place.replaceChildren(start);
    };
    const asked = () => {
      told.textContent = "starting …";
      place.replaceChildren(
        bar,
        " ",
        told,
        " ",
        element("button", { type: "button", class: "plain", onclick: stop }, "Stop"),
      );
      return job(path, values(), progress, signal);
    };
    const answer = await keptAnswer(path, values(), asked);
    place.replaceChildren();
    show(answer, place);
  }
  function begin() {
    remember({ [name]: 1 });
    return current(place, work, (error) => {
      say(place, error);
      place.append(start);
    });
  }
  place.append(start);
  if (state().get(name)) begin();
  return place;
}

export const about = () =>
  (known ??= ask("/api/about").catch((error) => {
    known = null;
    throw error;
  }));
export const forgetAbout = () => {
  known = null;
  answers.clear();
  kept.clear();
};
let known = null;

// --------------------------------------------------------------------------------------------------- the address

export const state = () => new URLSearchParams(location.search);

export function addressOf(path, values) {
  const query = queryOf(values);
  for (const [name, value] of [...query]) if (!value) query.delete(name);
  return query.size ? `${path}?${query}` : path;
}

export function go(path, values) {
  forgetAddress();
  leave();
  history.pushState(null, "", addressOf(path, values));
}

// Where one is in this view is written down before it is left.
export function leave() {
  const lines = [...document.querySelectorAll(".scroller")].map((scroller) => scroller.scrollTop);
  try {
    history.replaceState({ left: { top: scrollY, lines } }, "");
  } catch {
    // browsers refuse when that happens too often; only the place is lost
  }
}

// Another view, or this one anew.
export function visit(address) {
  writeAddress();
  leave();
  history.pushState(null, "", address);
  dispatchEvent(new Event("popstate"));
}

// Parts of the address are changed, in its place. Browsers refuse when that happens too often; the view goes on.
function replace(address) {
  try {
    history.replaceState(null, "", address);
  } catch {
    /* the next change writes it */
  }
}

export function remember(changes) {
  const values = {},
    query = state();
  for (const name of query.keys()) values[name] = query.getAll(name);
  replace(addressOf(location.pathname, { ...values, ...changes }));
}

// The address of what is being typed, written when no key was pressed for a while, or before it is left.
let waiting = null;

export function goSoon(path, values) {
  clearTimeout(waiting?.timer);
  waiting = { address: addressOf(path, values), timer: setTimeout(writeAddress, 300) };
}

export function writeAddress() {
  if (waiting) replace(waiting.address);
  forgetAddress();
}

export function forgetAddress() {
  clearTimeout(waiting?.timer);
  waiting = null;
}

export const entitle = (...parts) => {
  document.title = [...parts.filter(Boolean), "à la carte"].join(" · ");
};

// ----------------------------------------------------------------------------------------------------- in words

export const whole = (value) => value.toLocaleString("en");
export const counted = (count, thing) => `${whole(count)} ${thing}${count === 1 ? "" : "s"}`;
export const number = (value) =>
  value === null || value === undefined ? "unknown" : value.toFixed(Math.abs(value) < 0.1 ? 3 : 2);
export const percent = (value) => {
  if (value < 1 && value > 0.99) return "over 99 %";
  return value > 0 && value < 0.01 ? `${(100 * value).toFixed(1)} %` : `${Math.round(100 * value)} %`;
};
export const chance = (value) =>
  value === null ? "unknown" : value < 0.001 ? "less than 1 in 1,000" : `${value.toFixed(3)}`;

// An interval over half of all likenesses says that nothing is known.
export const isKnown = (item) =>
  item.conf_low !== null && item.conf_low !== undefined && item.conf_high - item.conf_low <= 1;
export const UNKNOWN = "unknown from so few uses";

export function sure(confidence, of) {
  if (confidence === null)
    return element("p", { class: "hint" }, "The confidence cannot be known from so little text.");
  return element("p", { class: "sure" }, element("b", {}, percent(confidence)), element("span", { class: "hint" }, of));
}

export function say(place, error) {
  place.replaceChildren(element("p", { class: "wrong", role: "alert" }, error.message));
}

// A line as running text, which begins with a word; there is no space where marks follow, or after an open bracket.
export const spaceBefore = (text) => (/^[,.;:!?…%)\]}’”'"]/.test(text) ? "" : " ");
export const inText = ({ before, match, after }, kind = "") => [
  before.replace(/^[^\p{L}\p{N}([{“‘"]+/u, ""),
  /[([{“‘]$/.test(before) ? "" : " ",
  element("b", { class: kind }, match),
  spaceBefore(after),
  after,
];

// ---------------------------------------------------------------------------------------------- the same elsewhere

export const quoted = (text) => JSON.stringify(text);
export const shell = (...words) =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
const isPattern = (phrase) => phrase.includes("*");
export const named = (phrase) => (isPattern(phrase) ? ["--glob", phrase] : ["--word", phrase]);
export const conditions = (option, list) => list.flatMap((condition) => [option, condition]);
export const sliced = (path, where) =>
  `Concordance(${quoted(path)})${where.length ? `.where(${where.map(quoted).join(", ")})` : ""}`;

// A script that gives the same numbers: what it imports, the model, what is asked about as `target`, then these lines.
export function script(model, phrase, lines, { names = [], imports = [], opened = model.python } = {}) {
  const pattern = phrase !== null && isPattern(phrase),
    all = [...model.imports, ...names, ...(pattern ? ["Targets"] : [])].sort();
  const target =
    phrase === null ? [] : [`target = ${pattern ? `Targets.glob(${quoted(phrase)})` : `[${quoted(phrase)}]`}`];
  return [`from alacarte import ${all.join(", ")}`, ...imports, "", `model = ${opened}`, ...target, ...lines].join(
    "\n",
  );
}

export function csvRow(values) {
  const guard = (text) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
  return values.map((value) => `"${guard(String(value ?? "")).replaceAll('"', '""')}"`).join(",");
}

export function csv(rows) {
  const names = rows.length ? Object.keys(rows[0]) : [];
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map(csvRow).join("\n");
}

// A line as a row of a table: behind its own columns those of its document, under names that are not taken.
export function flat({ columns, ...own }) {
  const names = Object.keys(columns),
    taken = new Set([...Object.keys(own), ...names]);
  const free = (name) => {
    let header = name;
    while (taken.has(header)) header = `columns.${header}`;
    taken.add(header);
    return header;
  };
  const headed = names.map((name) => [Object.hasOwn(own, name) ? free(name) : name, columns[name]]);
  return Object.fromEntries([...Object.entries(own), ...headed]);
}

export function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
