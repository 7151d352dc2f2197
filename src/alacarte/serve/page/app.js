// The page: a view for each path, its state in the query of the address.

import { about, say, whole } from "./common.js";
import { compare } from "./compare.js";
import { corpora } from "./corpora.js";
import { invent } from "./invent.js";
import { map } from "./map.js";
import { notes } from "./notes.js";
import { word } from "./word.js";

const VIEWS = { "/": invent, "/invent": invent, "/word": word, "/compare": compare, "/map": map, "/corpora": corpora, "/notes": notes };
const main = document.querySelector("#main");

async function open() {
  const path = location.pathname in VIEWS ? location.pathname : "/invent";
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.pathname === path || (path === "/" && link.pathname === "/invent");
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  try { await VIEWS[path](main); } catch (error) { say(main, error); }
  where();
}

async function where() {
  const there = await about(), vectors = `${whole(there.vectors.words)} words, ${there.vectors.dimensions} dimensions`;
  const names = there.corpora.slice(0, 2).map((corpus) => `${corpus.name}, ${whole(corpus.documents)} documents`);
  if (there.corpora.length > 2) names.push(`${there.corpora.length - 2} more`);
  document.querySelector("#where").textContent = [...names, vectors].join(" · ");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a");
  const address = link?.getAttribute("href");
  if (!address?.startsWith("/") || link.hasAttribute("download") || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const model = new URLSearchParams(location.search).get("model"), target = new URL(address, location.href);
  if (model && !target.searchParams.has("model")) target.searchParams.set("model", model);
  history.pushState(null, "", target);
  scrollTo(0, 0);
  open().then(() => main.focus());
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    main.querySelector("input")?.focus();
  }
});
addEventListener("popstate", open);
open();
