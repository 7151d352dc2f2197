// The ways out of a view: its address, numbers and pictures, a page of its own, and the code that gives the same.

import { csv, download, element, writeAddress } from "./common.js";

export function tools({ rows, name, python, command = "", pictures = [] }) {
  const written = element("pre", { hidden: true, tabindex: "0" });
  const show = (text) => () => {
    written.hidden = !written.hidden && written.textContent === text;
    written.textContent = text;
  };
  const button = (label, act) => element("button", { type: "button", onclick: act }, label);
  const copy = button("Copy link", async () => {
    writeAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = location.href;
    }
  });
  const safe = name.replace(/[^\p{L}\p{N}]+/gu, "-") || "view";
  const figures = () => pictures.map((picture) => figureOf(picture));
  return element(
    "div",
    {},
    element(
      "div",
      { class: "tools" },
      copy,
      rows && button("CSV", () => download(new Blob([csv(rows)], { type: "text/csv" }), `${safe}.csv`)),
      pictures.length > 0 &&
        button("SVG", () =>
          figures().forEach((figure, place) =>
            download(new Blob([figure.text], { type: "image/svg+xml" }), numbered(safe, place, "svg")),
          ),
        ),
      pictures.length > 0 &&
        button("PNG", () =>
          figures().forEach(async (figure, place) => download(await png(figure), numbered(safe, place, "png"))),
        ),
      pictures.length > 0 &&
        button("HTML", () => download(new Blob([pageOf(figures(), python)], { type: "text/html" }), `${safe}.html`)),
      python && button("Show the Python", show(python)),
      command && button("Show the command", show(command)),
    ),
    written,
  );
}

const numbered = (name, place, ending) => (place ? `${name}-${place + 1}.${ending}` : `${name}.${ending}`);

// ------------------------------------------------------------------------------------------------------- pictures

const HEAD = 62; // pixels above a picture: what it says, and what it shows
const FOOT = 40; // and below it: what it is from, and where

const STYLES = [
  "paint-order",
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "font-size",
  "font-family",
  "font-weight",
  "opacity",
];

// A picture by itself, as it looks here: colours and fonts are written into it.
function alone(picture) {
  const copy = picture.cloneNode(true),
    from = [picture, ...picture.querySelectorAll("*")],
    to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((part, place) => {
    const look = getComputedStyle(part);
    for (const name of STYLES) to[place].setAttribute(name, look.getPropertyValue(name));
    to[place].removeAttribute("href");
    to[place].removeAttribute("style");
  });
  return copy;
}

// A picture with what it says above it, and with its source below.
export function figureOf(picture, paper = true) {
  const { width, height } = picture.viewBox.baseVal;
  const look = getComputedStyle(document.body);
  const colour = (name) => look.getPropertyValue(name).trim();
  const heading = document.querySelector("h1")?.textContent ?? "";
  const size = Math.max(12, Math.min(22, (width - 16) / (0.56 * Math.max(1, heading.length))));
  const line = (y, size_, fill, face, text, weight = 400) =>
    element("text", { x: 8, y, "font-size": size_, fill, "font-family": face, "font-weight": weight }, text);
  const room = Math.floor((width - 16) / 6);
  const cut = (text) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);
  const inner = alone(picture);
  for (const [name, value] of Object.entries({ x: 0, y: HEAD, width, height })) inner.setAttribute(name, value);
  const whole = element(
    "svg",
    { viewBox: `0 0 ${width} ${height + HEAD + FOOT}`, width, height: height + HEAD + FOOT },
    element("rect", { width, height: height + HEAD + FOOT, fill: paper ? colour("--paper") : "none" }),
    line(28, size, colour("--ink"), colour("--serif"), heading, 600),
    line(48, 11, colour("--soft"), colour("--sans"), cut(picture.getAttribute("aria-label") ?? "")),
    inner,
    line(height + HEAD + 16, 11, colour("--soft"), colour("--sans"), cut(source())),
    line(height + HEAD + 31, 11, colour("--soft"), colour("--sans"), cut(address())),
  );
  whole.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return { text: new XMLSerializer().serializeToString(whole), width, height: height + HEAD + FOOT };
}

const source = () => `à la carte · ${document.querySelector("#where").textContent}`;

function address() {
  writeAddress();
  return location.pathname + location.search;
}

export async function png({ text, width, height }, behind = null) {
  const canvas = element("canvas", { width: 2 * width, height: 2 * height });
  const pen = canvas.getContext("2d");
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  if (behind) pen.drawImage(behind, 0, 2 * HEAD, canvas.width, 2 * (height - HEAD - FOOT));
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => {
    canvas.toBlob(done);
  });
}

// -------------------------------------------------------------------------------------------------- a page by itself

const LOOK =
  "body{margin:2rem auto;max-width:60rem;padding:0 1rem;background:#fbfaf7;color:#1f2328}" +
  "body{font:16px/1.5 system-ui,sans-serif}" +
  "h1,blockquote{font-family:Georgia,serif}svg{max-width:100%;height:auto}table{border-collapse:collapse}" +
  "td,th{padding:.2rem .7rem;text-align:left;border-bottom:1px solid #dcd8ce}" +
  "pre{overflow:auto;background:#fff;padding:1rem}";

// What the view shows, as one file that opens without a server: the sentence, pictures, numbers, quotes, and the code.
function pageOf(figures, python) {
  const made = document.implementation.createHTMLDocument(document.title);
  const add = (tag, text) => {
    const part = made.createElement(tag);
    part.textContent = text;
    made.body.append(part);
  };
  const charset = made.createElement("meta");
  charset.setAttribute("charset", "utf-8");
  made.head.prepend(charset);
  add("h1", document.querySelector("h1").textContent);
  for (const said of document.querySelectorAll("main .lede, main .verdict")) add("p", said.textContent);
  const parser = new DOMParser();
  for (const { text } of figures)
    made.body.append(made.importNode(parser.parseFromString(text, "image/svg+xml").documentElement, true));
  for (const quote of document.querySelectorAll("main .quote")) add("blockquote", quote.textContent);
  for (const numbers of document.querySelectorAll("main .unseen table"))
    made.body.append(made.importNode(numbers, true));
  if (python) add("pre", python);
  add("p", source());
  add("p", address());
  const text = made.documentElement.outerHTML.replace("</head>", `<style>${LOOK}</style></head>`);
  return `<!doctype html>\n${text}`;
}
