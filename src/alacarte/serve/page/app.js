// The page: a view for each path, its state in the query of the address.

import { about, counted, element, entitle, forgetAddress, giveUp, say, visit, whole } from "./common.js";
import { compare } from "./compare.js";
import { corpora } from "./corpora.js";
import { invent } from "./invent.js";
import { map } from "./map.js";
import { notes } from "./notes.js";
import { word } from "./word.js";

const VIEWS = {
  "/": invent,
  "/invent": invent,
  "/word": word,
  "/compare": compare,
  "/map": map,
  "/corpora": corpora,
  "/notes": notes,
};
const RETRY = 1500; // milliseconds
const main = document.querySelector("#main");

// Each view has a place of its own: one that was left can draw no more, and its questions are given up.
async function open() {
  const path = location.pathname in VIEWS ? location.pathname : "/invent",
    place = element("div", {});
  giveUp();
  forgetAddress();
  document.querySelectorAll("dialog").forEach((dialog) => dialog.close());
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.pathname === path || (path === "/" && link.pathname === "/invent");
    if (here) {
      link.setAttribute("aria-current", "page");
      entitle(link.textContent);
    } else link.removeAttribute("aria-current");
  }
  main.replaceChildren(place);
  try {
    await VIEWS[path](place);
    await where();
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.constructor !== Error) console.error(error); // a mistake of the page, not of a question
    if (error.away) {
      say(place, new Error("The server does not answer; trying again …"));
      setTimeout(() => {
        if (place.isConnected) open();
      }, RETRY);
    } else {
      say(place, error);
      place.append(element("p", {}, "What there is, is under ", element("a", { href: "/corpora" }, "Corpora"), "."));
    }
  }
}

async function where() {
  const there = await about(),
    vectors = `${whole(there.vectors.words)} words, ${there.vectors.dimensions} dimensions`;
  const names = there.corpora.slice(0, 2).map((corpus) => `${corpus.name}, ${counted(corpus.documents, "document")}`);
  if (there.corpora.length > 2) names.push(`${there.corpora.length - 2} more`);
  document.querySelector("#where").textContent = [...names, vectors].join(" · ");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a");
  const address = link?.getAttribute("href");
  const apart = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
  if (!address?.startsWith("/") || link.hasAttribute("download") || apart) return;
  const model = new URLSearchParams(location.search).get("model"),
    target = new URL(address, location.href);
  if (target.origin !== location.origin) return;
  event.preventDefault();
  if (model && !target.searchParams.has("model")) target.searchParams.set("model", model);
  visit(target);
  scrollTo(0, 0);
  main.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    main.querySelector("[data-search]")?.focus();
  }
});
addEventListener("popstate", open);
open();
