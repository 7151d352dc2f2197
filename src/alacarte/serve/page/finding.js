// A finding in words.

import { element } from "./common.js";

// That a word moved, on two sides, from one word and toward another, of which either may be none.
/**
 * @param {string} phrase
 * @param {string[]} sides
 * @param {(string | null)[]} moved
 */
export function findingOf(phrase, [one, two], [away, toward]) {
  const em = (text) => element("em", {}, text);
  const since = /^since (.+)$/.exec(two);
  if (since && away && toward)
    return [`Since ${since[1]}, `, em(phrase), " has moved from ", em(away), " to ", em(toward)];
  if (since && toward) return [`Since ${since[1]}, `, em(phrase), " has come closer to ", em(toward)];
  if (since && away) return [`Since ${since[1]}, `, em(phrase), " has moved away from ", em(away)];
  if (away && toward) return [em(phrase), ": ", em(away), ` for ${one}, `, em(toward), ` for ${two}`];
  if (toward ?? away) return [em(phrase), " is closer to ", em(toward ?? away), ` for ${toward ? two : one}`];
  return [em(phrase), ` is used differently, ${one} and ${two}`];
}
