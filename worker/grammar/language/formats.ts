/**
 * The formats of JSON Schema's `format` keyword as regular expressions. They accept nothing that the format's
 * definition (RFC 3339, 3986, 4122, 5321, 5891, 6570, 6901, ISO 8601) rejects, and leave out rare spellings: quoted local parts
 * of an e-mail address, internationalised host names, IPv6 addresses in a URI, leap seconds. Besides JSON Schema's own
 * there are those of OpenAPI's format registry and those that Pydantic and Zod write into the schemas they make.
 */

const DAY = [
  '\\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])',
  '\\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)',
  '\\d{4}-02-(?:0[1-9]|1\\d|2[0-8])',
  '(?:\\d{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29',
].join('|');
const CLOCK = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?';
const ZONE = '(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)';
const ALNUM = '[A-Za-z0-9]';
const LDH = '[A-Za-z0-9-]';
/** Two hyphens in the third and fourth place stand for names in other scripts, which have rules of their own. */
const label = (most: string) =>
  `${ALNUM}(?:${LDH}{0,2}${ALNUM}|${LDH}(?:${ALNUM}${LDH}|-${ALNUM})${LDH}${most}${ALNUM})?`;
/** No more than 253 characters: a few labels as long as they can be, or more of them that are shorter. */
const HOST = ['{0,58}', '{0,16}']
  .map((most, index) => `${label(most)}(?:\\.${label(most)}){0,${index === 0 ? 2 : 10}}`)
  .join('|');
/** Where a name is part of something longer, the length of its labels is not counted: it makes large automata. */
const PART = `${ALNUM}(?:${LDH}*${ALNUM})?`;
const BYTE = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `${BYTE}\\.${BYTE}\\.${BYTE}\\.${BYTE}`;
const GROUP = '[0-9A-Fa-f]{1,4}';
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((before) => {
    const head = before === 0 ? '' : `${GROUP}(?::${GROUP}){${before - 1}}`;
    const tail = before === 7 ? '' : `(?:${GROUP}(?::${GROUP}){0,${6 - before}})?`;
    return `${head}::${tail}`;
  }),
  // The last two groups as an IPv4 address.
  `(?:${GROUP}:){6}${IPV4}`,
  ...[0, 1, 2, 3, 4, 5].map((before) => {
    const head = before === 0 ? '' : `${GROUP}(?::${GROUP}){${before - 1}}`;
    return `${head}::(?:${GROUP}:){0,${5 - before}}${IPV4}`;
  }),
].join('|');
const ESCAPED = '%[0-9A-Fa-f]{2}';
const PATH = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|${ESCAPED})`;
const AUTHORITY = `(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|${ESCAPED})*@)?${PART}(?:\\.${PART})*(?::\\d{1,5})?`;
const TAIL = `(?:\\?(?:${PATH}|[/?])*)?(?:#(?:${PATH}|[/?])*)?`;
/** Without a host, as in `file:///tmp`, there is a path. */
const PLACE = `//(?:${AUTHORITY}(?:/${PATH}*)*|(?:/${PATH}*)+)`;
const URI = `[A-Za-z][A-Za-z0-9+.-]*:(?:${PLACE}|/?${PATH}+(?:/${PATH}*)*)${TAIL}`;
const REFERENCE = `(?:${PLACE}|(?:/?(?:[A-Za-z0-9._~!$&'()*+,;=@-]|${ESCAPED})+(?:/${PATH}*)*)?)${TAIL}`;
const LITERAL = `(?:[!#$&-;=?-\\[\\]_a-z~\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef\\u{10000}-\\u{10ffff}]|${ESCAPED})`;
const VARIABLE_CHARACTER = `(?:[A-Za-z0-9_]|${ESCAPED})`;
const VARIABLE = `${VARIABLE_CHARACTER}(?:\\.?${VARIABLE_CHARACTER})*(?::[1-9]\\d{0,3}|\\*)?`;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";

const SOURCES: Readonly<Record<string, string>> = {
  date: DAY,
  time: `${CLOCK}${ZONE}`,
  'date-time': `(?:${DAY})T${CLOCK}${ZONE}`,
  'iso-time': `${CLOCK}${ZONE}?`,
  'iso-date-time': `(?:${DAY})[T ]${CLOCK}${ZONE}?`,
  duration:
    'P(?:\\d+W|(?:\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D)(?:T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))?|T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S))',
  email: `${ATOM}(?:\\.${ATOM})*@${PART}(?:\\.${PART})+`,
  hostname: HOST,
  ipv4: IPV4,
  ipv6: IPV6,
  uuid: '[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}',
  uri: URI,
  'uri-reference': `(?:${URI}|${REFERENCE})`,
  'uri-template': `(?:${LITERAL}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*`,
  'json-pointer': '(?:/(?:[^/~]|~[01])*)*',
  'relative-json-pointer': '(?:0|[1-9]\\d*)(?:#|(?:/(?:[^/~]|~[01])*)*)',
  base64: '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?',
  base64url: '(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?',
  char: '[\\s\\S]',
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6, 7, 8].map((version) => [
      `uuid${version}`,
      `[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-${version}[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}`,
    ]),
  ),
  cidrv4: `${IPV4}/(?:3[0-2]|[12]?\\d)`,
  cidrv6: `(?:${IPV6})/(?:12[0-8]|1[01]\\d|[1-9]?\\d)`,
  ipvanyaddress: `(?:${IPV4}|${IPV6})`,
  e164: '\\+[1-9]\\d{6,14}',
  ulid: '[0-7][0-9A-HJKMNP-TV-Z]{25}',
  nanoid: '[A-Za-z0-9_-]{21}',
  decimal: '[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)',
};

/** Spelling out an internationalised name is allowed, but here no address needs one. */
const ALIASES: Readonly<Record<string, string>> = {
  'idn-email': 'email',
  'idn-hostname': 'hostname',
  iri: 'uri',
  'iri-reference': 'uri-reference',
  url: 'uri',
  byte: 'base64',
  datetime: 'date-time',
  guid: 'uuid',
  ipv4network: 'cidrv4',
  ipv6network: 'cidrv6',
};

/** Formats that say what a value is for, or that any value of the type fits. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'float',
  'double',
  'password',
  'binary',
  'html',
  'commonmark',
  'markdown',
  'text',
  'textarea',
  'path',
  'file-path',
  'directory-path',
]);

/**
 * Ranges of the integer formats. Those of 64 bits end where a number of JavaScript is no longer exact.
 */
export const INTEGER_FORMATS: Readonly<Record<string, readonly [number, number]>> = {
  ...Object.fromEntries([8, 16, 32].map((bits) => [`int${bits}`, [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]])),
  ...Object.fromEntries([8, 16, 32].map((bits) => [`uint${bits}`, [0, 2 ** bits - 1]])),
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  uint64: [0, Number.MAX_SAFE_INTEGER],
};

/** Formats that are checked afterwards. */
const CHECKED_AFTER: ReadonlySet<string> = new Set(['regex']);

/** Whether a format can be held, or has nothing to hold. */
export const isKnownFormat = (name: string) =>
  ANNOTATIONS.has(name) || Object.hasOwn(INTEGER_FORMATS, name) || formatSource(name) !== null;

/** @returns the expression; `check` for a format that is checked afterwards; `null` for one that is none of a text */
export function formatSource(name: string): string | 'check' | null {
  if (CHECKED_AFTER.has(name)) return 'check';
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
  return Object.hasOwn(SOURCES, known) ? `^(?:${SOURCES[known]})$` : null;
}
