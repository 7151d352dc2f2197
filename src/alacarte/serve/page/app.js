// The page: a view for each path, its state in the query of the address.

import { about, counted, element, entitle, forgetAddress, giveUp, leave, say, state, visit, whole } from "./common.js";
import { compare } from "./compare.js";
import { corpora, take } from "./corpora.js";
import { invent } from "./invent.js";
import { map } from "./map.js";
import { notes } from "./notes.js";
import { droppedFiles } from "./preview.js";
import { start } from "./start.js";
import { word } from "./word.js";

const VIEWS = {
  "/": start,
  "/start": start,
  "/invent": invent,
  "/word": word,
  "/compare": compare,
  "/map": map,
  "/corpora": corpora,
  "/notes": notes,
};
const OF_CORPORA = ["/", "/start", "/word", "/compare", "/map"];
const RETRY = 1500; // milliseconds
const SETTLE = [0, 50, 150, 400]; // milliseconds in which a view that one goes back to gets its height
const main = /** @type {HTMLElement} */ (document.querySelector("#main"));
let lastCorpus = "";

// Each view has a place of its own: one that was left can draw no more, and its questions are given up.
async function open() {
  const path = location.pathname in VIEWS ? location.pathname : "/";
  const place = element("div", {});
  giveUp();
  forgetAddress();
  document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
  if (OF_CORPORA.includes(path)) lastCorpus = state().get("corpus") ?? "";
  mark(path);
  main.replaceChildren(place);
  try {
    await VIEWS[path](place);
    await where();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.constructor !== Error) console.error(error); // a mistake of the page, not of a question
    failed(place, error);
  }
}

function mark(path) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"))) {
    const here = link.pathname === path || (path === "/" && link.pathname === "/start");
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (here) entitle(link.textContent);
  }
}

function failed(place, error) {
  if (error.away) {
    say(place, new Error("The server does not answer; trying again …"));
    setTimeout(() => {
      if (place.isConnected) open();
    }, RETRY);
    return;
  }
  say(place, error);
  place.append(element("p", {}, "What there is, is under ", element("a", { href: "/corpora" }, "Corpora"), "."));
}

async function where() {
  const there = await about();
  const names = there.corpora.slice(0, 2).map((corpus) => `${corpus.name}, ${counted(corpus.documents, "document")}`);
  if (there.corpora.length > 2) names.push(`${there.corpora.length - 2} more`);
  const vectors = `${whole(there.vectors.words)} words, ${there.vectors.dimensions} dimensions`;
  const place = /** @type {HTMLElement} */ (document.querySelector("#where"));
  place.textContent = place.title = [...names, vectors].join(" · ");
}

// Links lead to views of this page; those above lead to the corpus that was looked at last.
document.addEventListener("click", (event) => {
  const link = /** @type {Element} */ (event.target).closest?.("a");
  const address = link?.getAttribute("href");
  const apart = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
  if (!address?.startsWith("/") || link.hasAttribute("download") || apart) return;
  const target = new URL(address, location.href);
  if (target.origin !== location.origin) return;
  event.preventDefault();
  const model = state().get("model");
  if (model && !target.searchParams.has("model")) target.searchParams.set("model", model);
  if (link.closest("nav") && OF_CORPORA.includes(target.pathname) && lastCorpus) {
    target.searchParams.set("corpus", lastCorpus);
  }
  visit(target);
  scrollTo(0, 0);
  main.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    /** @type {HTMLElement | null} */ (main.querySelector("[data-search]"))?.focus();
  }
});

// A file that is dropped onto any view becomes a corpus.
document.addEventListener("dragover", (event) => {
  if (event.dataTransfer.types.includes("Files")) event.preventDefault();
});
document.addEventListener("drop", async (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  take(await droppedFiles(event.dataTransfer));
  visit("/corpora");
});

// Back leads to the place that was left, also within the lines.
async function back(event) {
  await open();
  const left = event.state?.left;
  if (!left) return;
  let moved = false;
  for (const name of ["wheel", "pointerdown", "keydown"]) {
    addEventListener(
      name,
      () => {
        moved = true;
      },
      { once: true },
    );
  }
  for (const wait of SETTLE) {
    await new Promise((done) => {
      setTimeout(done, wait);
    });
    if (moved) return;
    document.querySelectorAll(".scroller").forEach((scroller, at) => {
      scroller.scrollTop = left.lines[at] ?? 0;
    });
    scrollTo(0, left.top);
  }
}

history.scrollRestoration = "manual";
addEventListener("beforeunload", leave);
addEventListener("popstate", back);
back({ state: history.state });
