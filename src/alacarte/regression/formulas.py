"""Formulas: what is left of the tilde, which variables are right of it, and what a formula may say.

formulaic, which turns the right side into a design matrix, evaluates a part of it as Python. So each such part is
checked before formulaic sees it: names of columns, numbers, plain strings, arithmetic, and calls of the functions in
`FUNCTIONS`, `NUMPY` and `CONTRASTS`. Nothing else runs, and names of columns never become code.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from alacarte.errors import BadFormula, require


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


FUNCTIONS = _names(
    "C I Q bs cc cr cs poly scale center standardize log log2 log10 exp exp2 Treatment Sum Helmert Diff Poly"
)
CONTRASTS = _names("treatment sum helmert diff poly SAS")
NUMPY = _names(
    "log log2 log10 log1p exp exp2 expm1 sqrt cbrt square power abs sign floor ceil round clip minimum maximum where "
    "sin cos tan tanh arctan pi e"
)
METHODS = _names(  # of columns, in conditions
    "str dt contains startswith endswith lower upper strip len match isin isna notna between year month day abs"
)
# Quotes and backticks only around plain text, so that there is one way to read an expression.
PLAIN = re.compile(r"""('[^'"`\\\n]*'|"[^'"`\\\n]*"|`[^'"`\\(){}\[\]\n]+`|[^'"`\\\n])*""")
NODES = (
    *(ast.Expression, ast.Load, ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Call, ast.keyword),
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop, ast.BoolOp, ast.boolop),
)


def parse_formula(formula: str) -> tuple[list[str] | None, str]:
    """Return (what to embed, or None for whole documents; the covariates).

    >>> parse_formula("immigration ~ party * gender")
    (['immigration'], 'party * gender')
    >>> parse_formula('c("immigration reform", "immigr*") ~ party')
    (['immigration reform', 'immigr*'], 'party')
    >>> parse_formula(". ~ party"), parse_formula("~ party")
    ((None, 'party'), (None, 'party'))
    """
    left, tilde, right = formula.partition("~")
    if not tilde or not right.strip():
        raise BadFormula(f"{formula!r} is no formula; write it as 'word ~ covariate + covariate'")
    left = left.strip()
    if left in ("", "."):
        return None, right.strip()
    listed = re.fullmatch(r"(?:c\s*\(|\[|\()(.*)[\])]", left, re.DOTALL)
    quoted = re.findall(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`", listed.group(1) if listed else left)
    if listed and not quoted:
        return [part.strip() for part in listed.group(1).split(",") if part.strip()], right.strip()
    if quoted:
        return ["".join(parts) for parts in quoted], right.strip()
    return [left], right.strip()


def split_effects(covariates: str) -> tuple[str, list[str]]:
    """Return (the covariates before |, the names of the columns behind it, whose effects are taken out).

    >>> split_effects("party * year | speaker + `first name`"), split_effects("C(`a|b`)")
    (('party * year', ['speaker', 'first name']), ('C(`a|b`)', []))
    """
    outside = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", lambda found: "x" * len(found.group()), covariates)
    depth, cut = 0, -1
    for place, character in enumerate(outside):
        depth += (character in "([{") - (character in ")]}")
        if character == "|" and depth == 0:
            if cut >= 0:
                raise BadFormula(f"{covariates!r} has two |; write the columns behind one | with + between them")
            cut = place
    if cut < 0:
        return covariates, []
    names = [part.strip() for part in covariates[cut + 1 :].split("+")]
    names = [name[1:-1] if re.fullmatch("`[^`]*`", name) else name for name in names]
    if not covariates[:cut].strip() or not all(re.fullmatch(r"[^|()*:`]+", name) for name in names):
        raise BadFormula(f"{covariates!r} has no covariate before |, or something else than columns behind it")
    return covariates[:cut].strip(), names


@dataclass(frozen=True)
class Covariates:
    """The right side of a formula: its variables in order, which of them occur in C(…) only, formulaic's own form."""

    variables: list[str]
    as_levels: frozenset[str]
    formula: Any


def parse_covariates(text: str, columns: Sequence[str]) -> Covariates:
    """Return the variables in the right side of a formula, after a check that it says nothing but what it may.

    `columns` are those that `.` means.

    >>> parse_covariates("C(party) * bs(year, df=4) + .", ["year", "my age"]).variables
    ['party', 'year', 'my age']
    """
    formulaic = require("formulaic", extra="regression", purpose="formulas")
    uses: list[tuple[str, bool]] = []
    for token in tokens_of(text):
        if token.token == ".":
            uses += [(name, False) for name in columns]
        elif token.kind.value == "name":  # `my-income` may be called anything: it is looked up, not evaluated
            uses.append((token.token, False))
        elif token.kind.value == "python":
            uses += _uses(token.token, "formula")
    try:
        formula = formulaic.Formula(text, _context={"__formulaic_variables_available__": list(columns)})
        factors = [factor for term in formula for factor in term.factors]
    except Exception as error:  # formulaic raises many kinds
        raise BadFormula(f"the formula {text!r} cannot be read: {error}") from None
    for factor in factors:  # once more, as formulaic has written them
        if factor.eval_method.value == "python":
            _uses(factor.expr, "formula")
    names = list(dict.fromkeys(name for name, _ in uses))
    return Covariates(names, frozenset(names) - {name for name, in_levels in uses if not in_levels}, formula)


def check_condition(condition: str) -> None:
    """Raise if a condition on the rows of a table (for pandas' `query`) says more than comparisons of columns.

    >>> check_condition("year >= 1900 and party in ['D', 'R'] and speaker.str.startswith('B')")
    """
    _uses(condition, "condition")


def tokens_of(text: str) -> list[Any]:
    """Return the right side of a formula as formulaic's tokens."""
    tokenizer = require("formulaic.parser.algos.tokenize", extra="regression", purpose="formulas")
    try:
        return list(tokenizer.tokenize(text))
    except Exception as error:
        raise BadFormula(f"the formula {text!r} cannot be read: {error}") from None


def _uses(source: str, kind: str) -> list[tuple[str, bool]]:
    """Return (variable, whether it is in C(…)) for each variable of an expression, which is checked on the way.

    `kind` is "formula" or "condition".

    >>> sorted(_uses("C(party) * bs(year, df=4) + np.log(`my income`)", "formula"))
    [('my income', False), ('party', True), ('year', False)]
    """

    def refuse(why: str) -> BadFormula:
        remedy = "compute a column before and name it" if kind == "formula" else "choose the rows before"
        return BadFormula(f'the {kind} may not say "{source}": {why}; {remedy}')

    if not PLAIN.fullmatch(source):
        raise refuse("a quoted text or name in it has quotes, brackets or backslashes of its own")
    quoted: dict[str, str] = {}

    def placeholder(match: re.Match[str]) -> str:
        quoted[f"quoted_{len(quoted)}_"] = match.group(1)
        return f" quoted_{len(quoted) - 1}_ "

    def walk(node: ast.AST, in_levels: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.Name):
            yield quoted.get(node.id, node.id), in_levels
            return
        if isinstance(node, ast.Attribute):
            if not _attribute_allowed(node, kind):
                raise refuse(f"it takes {ast.unparse(node)}")
            if kind != "formula":
                yield from walk(node.value, in_levels)
            return
        called = None
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if kind == "formula" and not _call_allowed(node):
                raise refuse(f"{called}() is not one of its functions ({', '.join(sorted(FUNCTIONS))}, or np.log …)")
            if kind == "condition" and not isinstance(node.func, ast.Attribute):
                raise refuse(f"{called}() is not one of its functions")
            if called == "Q" and node.args and isinstance(node.args[0], ast.Constant):  # another way to quote a name
                yield str(node.args[0].value), in_levels
            if isinstance(node.func, ast.Name):  # a function, no variable
                children.remove(node.func)
        elif not isinstance(node, NODES):
            raise refuse(f"{type(node).__name__} is neither arithmetic nor a comparison")
        elif isinstance(node, ast.BinOp) and not _small(node):
            raise refuse(f"{ast.unparse(node)} may take very long or much memory")
        elif isinstance(node, ast.keyword) and (node.arg is None or node.arg.startswith("_")):
            raise refuse(f"{ast.unparse(node)} is no argument of its functions")
        for child in children:
            yield from walk(child, in_levels or called == "C")

    try:
        return list(walk(ast.parse(re.sub("`([^`]*)`", placeholder, source).strip(), mode="eval"), False))
    except BadFormula:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"--where {source[:200]!r}" if kind == "condition" else f"the term {source[:200]!r} of the formula"
        raise BadFormula(f"{where} cannot be evaluated: {error}; correct it") from None


def _small(node: ast.BinOp) -> bool:
    """Whether arithmetic is about columns and numbers as they come: no powers of powers, no repeated strings."""
    if isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        return False
    if isinstance(node.op, ast.Pow):
        number = node.right.value if isinstance(node.right, ast.Constant) else None
        return isinstance(number, int | float) and number <= 100 and not isinstance(node.left, ast.BinOp | ast.Constant)
    return not isinstance(node.op, ast.LShift | ast.MatMult)


def _call_allowed(node: ast.Call) -> bool:
    """Whether the function is one of those that a formula may call."""
    function = node.func
    if isinstance(function, ast.Name):
        return function.id in FUNCTIONS
    return isinstance(function, ast.Attribute) and _attribute_allowed(function, "formula")


def _attribute_allowed(node: ast.Attribute, kind: str) -> bool:
    """Whether an attribute is allowed: np.log and contr.sum in a formula, party.str.contains in a condition."""
    owner = node.value
    if kind == "condition":
        inner = isinstance(owner, ast.Name) or (isinstance(owner, ast.Attribute) and _attribute_allowed(owner, kind))
        return inner and node.attr in METHODS
    known = {"np": NUMPY, "contr": CONTRASTS}
    return isinstance(owner, ast.Name) and node.attr in known.get(owner.id, ())
