/**
 * The formats of JSON Schema's `format` keyword as regular expressions. They accept nothing that the format's
 * definition (RFC 3339, 3986, 4122, 5321, 5891, 6570, 6901, ISO 8601) rejects, and leave out rare spellings: quoted local parts
 * of an e-mail address, internationalised host names, IPv6 addresses in a URI, leap seconds.
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
const URI = `[A-Za-z][A-Za-z0-9+.-]*:(?://${AUTHORITY}(?:/${PATH}*)*|/?${PATH}+(?:/${PATH}*)*)${TAIL}`;
const REFERENCE = `(?://${AUTHORITY}(?:/${PATH}*)*|(?:/?(?:[A-Za-z0-9._~!$&'()*+,;=@-]|${ESCAPED})+(?:/${PATH}*)*)?)${TAIL}`;
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
  byte: '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?',
};

/** Spelling out an internationalised name is allowed, but here no address needs one. */
const ALIASES: Readonly<Record<string, string>> = {
  'idn-email': 'email',
  'idn-hostname': 'hostname',
  iri: 'uri',
  'iri-reference': 'uri-reference',
  url: 'uri',
};

/** Formats that are checked afterwards. */
const CHECKED_AFTER: ReadonlySet<string> = new Set(['regex']);

/**
 * @returns the expression; `check` for a format that is known but checked afterwards; `null` for one that is not
 * known, which is an annotation then
 */
export function formatSource(name: string): string | 'check' | null {
  if (CHECKED_AFTER.has(name)) return 'check';
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
  return Object.hasOwn(SOURCES, known) ? `^(?:${SOURCES[known]})$` : null;
}
