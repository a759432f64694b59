import { ToolError } from './tool.ts';

const constants: Record<string, number> = { pi: Math.PI, e: Math.E };

const functions: Record<string, (value: number) => number> = {
  sqrt: Math.sqrt,
  abs: Math.abs,
  round: Math.round,
  floor: Math.floor,
  ceil: Math.ceil,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  log: Math.log10,
  ln: Math.log,
  exp: Math.exp,
};

/** Spellings that people and models use for the same operator. */
const spellings: Record<string, string> = { '×': '*', '·': '*', '÷': '/', '−': '-', '–': '-', '**': '^' };

const tokenPattern = /\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?|\.\d+)|([a-z]+)|(\*\*|[-+*/%^()×·÷−–]))/iy;

/** Deep enough for any sum, shallow enough for the call stack. */
const maximumDepth = 100;

/**
 * The value of an arithmetic expression, by recursive descent:
 *
 * ```
 * sum     = product (('+' | '-') product)*
 * product = signed (('*' | '/' | '%') signed)*
 * signed  = ('-' | '+') signed | power
 * power   = atom ('^' signed)?                 right-associative, so -2 ^ 2 is -4
 * atom    = number | constant | function '(' sum ')' | '(' sum ')'
 * ```
 *
 * Throws a {@link ToolError} that says what is wrong.
 */
export function evaluate(expression: string): number {
  const tokens = tokenize(expression);
  let position = 0;
  let depth = 0;

  function take(...wanted: string[]): string | null {
    const token = tokens[position];
    if (typeof token !== 'string' || !wanted.includes(token)) return null;
    position++;
    return token;
  }

  function sum(): number {
    if (++depth > maximumDepth) throw new ToolError('too many parentheses');
    let value = product();
    for (let operator = take('+', '-'); operator; operator = take('+', '-')) {
      const right = product();
      value = operator === '+' ? value + right : value - right;
    }
    depth--;
    return value;
  }

  function product(): number {
    let value = signed();
    for (let operator = take('*', '/', '%'); operator; operator = take('*', '/', '%')) {
      const right = signed();
      if (operator !== '*' && right === 0) throw new ToolError('division by zero');
      value = operator === '*' ? value * right : operator === '/' ? value / right : value % right;
    }
    return value;
  }

  function signed(): number {
    let sign = 1;
    for (let operator = take('-', '+'); operator; operator = take('-', '+'))
      if (operator === '-') sign = -sign;
    return sign * power();
  }

  function power(): number {
    const base = atom();
    if (!take('^')) return base;
    if (++depth > maximumDepth) throw new ToolError('too many powers');
    const value = base ** signed();
    depth--;
    return value;
  }

  function atom(): number {
    const token = tokens[position++];
    if (typeof token === 'number') return token;
    if (token === '(') return closed(sum());
    if (token !== undefined && Object.hasOwn(constants, token)) return constants[token]!;
    if (token !== undefined && Object.hasOwn(functions, token)) {
      if (!take('(')) throw new ToolError(`${token} needs parentheses`);
      return functions[token]!(closed(sum()));
    }
    throw new ToolError(token === undefined ? 'the expression is not complete' : `unexpected ${token}`);
  }

  function closed(value: number): number {
    if (!take(')')) throw new ToolError('a parenthesis is not closed');
    return value;
  }

  const value = sum();
  if (position < tokens.length) throw new ToolError(`unexpected ${tokens[position]}`);
  if (!Number.isFinite(value)) throw new ToolError('the result is not a number');
  return value;
}

function tokenize(expression: string): (number | string)[] {
  // Thousands separators: 1,000 and 1,234,567 but not 1,2.
  const text = expression.trim().replace(/(?<=\d),(?=\d{3}(?!\d))/g, '');
  const tokens: (number | string)[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const start = tokenPattern.lastIndex;
    const match = tokenPattern.exec(text);
    if (!match) throw new ToolError(`unexpected ${text.slice(start).trim()[0]}`);
    const [, number, word, operator] = match;
    if (number !== undefined) tokens.push(Number(number));
    else if (word !== undefined) tokens.push(word.toLowerCase());
    else tokens.push(spellings[operator!] ?? operator!);
  }
  return tokens;
}
