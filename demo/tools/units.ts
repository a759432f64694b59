import { type Arguments, fold, readable, requireNumber, requireText, type Tool, ToolError } from './tool.ts';

/** A unit in terms of its quantity's base unit: `base = value * factor + offset`. */
interface Unit {
  quantity: string;
  factor: number;
  offset: number;
}

const units = new Map<string, Unit>();

/** Adds units of one quantity: names separated by spaces, the factor to the base unit, the offset to it. */
function declare(quantity: string, ...rows: [names: string, factor: number, offset?: number][]): void {
  for (const [names, factor, offset = 0] of rows)
    for (const name of names.split(' ')) units.set(name, { quantity, factor, offset });
}

declare(
  'length',
  ['m meter meters metre metres', 1],
  ['km kilometer kilometers kilometre kilometres', 1000],
  ['cm centimeter centimeters centimetre centimetres', 0.01],
  ['mm millimeter millimeters millimetre millimetres', 0.001],
  ['mi mile miles', 1609.344],
  ['yd yard yards', 0.9144],
  ['ft foot feet', 0.3048],
  ['in inch inches', 0.0254],
);
declare(
  'mass',
  ['kg kilo kilos kilogram kilograms', 1],
  ['g gram grams', 0.001],
  ['mg milligram milligrams', 1e-6],
  ['t tonne tonnes ton tons', 1000],
  ['lb lbs pound pounds', 0.45359237],
  ['oz ounce ounces', 0.028349523125],
);
declare(
  'volume',
  ['l liter liters litre litres', 1],
  ['ml milliliter milliliters millilitre millilitres', 0.001],
  ['gal gallon gallons', 3.785411784],
  ['pt pint pints', 0.473176473],
  ['cup cups', 0.2365882365],
);
declare(
  'temperature',
  ['k kelvin kelvins', 1],
  ['c celsius centigrade', 1, 273.15],
  ['f fahrenheit', 5 / 9, 273.15 - 32 * (5 / 9)],
);
declare(
  'time',
  ['s sec second seconds', 1],
  ['ms millisecond milliseconds', 0.001],
  ['min minute minutes', 60],
  ['h hr hour hours', 3600],
  ['d day days', 86400],
  ['week weeks', 604800],
);

function unitOf(name: string): Unit {
  const folded = fold(name).replace(/^degrees? /, '');
  const unit = units.get(folded);
  if (!unit) throw new ToolError(`unknown unit ${folded}`);
  return unit;
}

/** `value` in another unit of the same quantity. */
export function convert(value: number, from: string, to: string): number {
  const source = unitOf(from);
  const target = unitOf(to);
  if (source.quantity !== target.quantity) throw new ToolError(`cannot convert ${from} to ${to}`);
  return (value * source.factor + source.offset - target.offset) / target.factor;
}

export const convertUnits: Tool = {
  run(args: Arguments) {
    const value = requireNumber(args, 'value');
    const result = convert(value, requireText(args, 'from_unit'), requireText(args, 'to_unit'));
    // 12 digits first: 0.1 + 0.2 noise of the factors must not decide how the number is shown.
    return { result: readable(Number(result.toPrecision(12))) };
  },
};
