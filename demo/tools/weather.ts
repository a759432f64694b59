import { type Arguments, fold, requireText, type Tool, ToolError } from './tool.ts';

/** Made-up weather: [city, degrees celsius, condition]. There is no weather service behind this tool. */
const table: [string, number, string][] = [
  ['Paris', 18, 'cloudy'],
  ['London', 14, 'rainy'],
  ['Tokyo', 24, 'sunny'],
  ['Rome', 27, 'clear'],
  ['Berlin', 12, 'rainy'],
  ['Madrid', 29, 'sunny'],
  ['Oslo', 3, 'snowy'],
  ['Vienna', 16, 'windy'],
  ['Lisbon', 22, 'sunny'],
  ['Dublin', 11, 'foggy'],
  ['Prague', 13, 'cloudy'],
  ['Athens', 30, 'clear'],
  ['Cairo', 34, 'sunny'],
  ['Delhi', 33, 'foggy'],
  ['Seoul', 19, 'clear'],
  ['Boston', 9, 'windy'],
  ['Chicago', 7, 'windy'],
  ['New York', 15, 'cloudy'],
  ['San Francisco', 17, 'foggy'],
  ['Toronto', 5, 'snowy'],
  ['Sydney', 26, 'sunny'],
  ['Dubai', 37, 'clear'],
  ['Mumbai', 31, 'rainy'],
  ['Warsaw', 10, 'cloudy'],
  ['Helsinki', 1, 'snowy'],
  ['Stockholm', 4, 'cloudy'],
  ['Amsterdam', 13, 'rainy'],
  ['Zurich', 12, 'clear'],
  ['Kyoto', 21, 'clear'],
  ['Beijing', 20, 'windy'],
  ['Bangkok', 35, 'stormy'],
  ['Nairobi', 23, 'sunny'],
];

const places = new Map(table.map((row) => [fold(row[0]), row]));

export const getWeather: Tool = {
  remark: 'Sample data from a small built-in table, not live weather.',
  run(args: Arguments) {
    const location = requireText(args, 'location');
    const unit = args.unit ?? 'celsius';
    if (unit !== 'celsius' && unit !== 'fahrenheit') throw new ToolError('unknown unit');
    const row = places.get(fold(location));
    if (!row) throw new ToolError('unknown location');
    const [, celsius, condition] = row;
    const temperature = unit === 'celsius' ? celsius : Math.round((celsius * 9) / 5 + 32);
    return { location, temperature, unit, condition };
  },
};
