// A finding in words, from how like other words a word is on two sides.

import { element, isKnown } from "./common.js";

// The words (no commas) from which and toward which a word surely moved most: their intervals on the two sides lie
// apart.
export function movedBetween(words) {
  const both = words.filter(({ word, a, b }) => a && b && isKnown(a) && isKnown(b) && /\p{L}{2}/u.test(word));
  const most = (gap) => both.filter((item) => gap(item) > 0).sort((one, two) => gap(two) - gap(one))[0];
  return [most(({ a, b }) => a.conf_low - b.conf_high), most(({ a, b }) => b.conf_low - a.conf_high)];
}

// The finding in words.
/** @param {string[]} sides */
export function findingOf(phrase, sides, away, toward) {
  const [one, two] = sides;
  const em = (text) => element("em", {}, text);
  const since = /^since (.+)$/.exec(two);
  if (since && away && toward)
    return [`Since ${since[1]}, `, em(phrase), " has moved from ", em(away.word), " to ", em(toward.word)];
  if (since && toward) return [`Since ${since[1]}, `, em(phrase), " has come closer to ", em(toward.word)];
  if (since && away) return [`Since ${since[1]}, `, em(phrase), " has moved away from ", em(away.word)];
  if (away && toward) return [em(phrase), ": ", em(away.word), ` for ${one}, `, em(toward.word), ` for ${two}`];
  if (toward ?? away) return [em(phrase), " is closer to ", em((toward ?? away).word), ` for ${toward ? two : one}`];
  return [em(phrase), ` is used differently, ${one} and ${two}`];
}
