import { type Arguments, fold, requireText, type Tool, ToolError } from './tool.ts';

/** Cities by their IANA time zone. */
const zones: Record<string, string[]> = {
  'Europe/Paris': ['Paris', 'Lyon', 'Nice'],
  'Europe/London': ['London'],
  'Europe/Dublin': ['Dublin'],
  'Europe/Rome': ['Rome', 'Milan', 'Naples', 'Venice'],
  'Europe/Berlin': ['Berlin', 'Munich', 'München', 'Cologne', 'Köln', 'Hamburg'],
  'Europe/Madrid': ['Madrid', 'Seville', 'Barcelona', 'Málaga'],
  'Europe/Oslo': ['Oslo', 'Tromsø', 'Tromso', 'Bergen'],
  'Europe/Vienna': ['Vienna'],
  'Europe/Lisbon': ['Lisbon', 'Porto'],
  'Europe/Prague': ['Prague'],
  'Europe/Athens': ['Athens'],
  'Europe/Warsaw': ['Warsaw', 'Kraków', 'Krakow'],
  'Europe/Helsinki': ['Helsinki'],
  'Europe/Stockholm': ['Stockholm', 'Göteborg', 'Gothenburg', 'Malmö'],
  'Europe/Copenhagen': ['Copenhagen'],
  'Europe/Amsterdam': ['Amsterdam'],
  'Europe/Brussels': ['Brussels'],
  'Europe/Budapest': ['Budapest'],
  'Europe/Zurich': ['Zurich', 'Geneva'],
  'Europe/Istanbul': ['Istanbul'],
  'Atlantic/Reykjavik': ['Reykjavík'],
  'Africa/Cairo': ['Cairo'],
  'Africa/Nairobi': ['Nairobi'],
  'Africa/Lagos': ['Lagos'],
  'Africa/Johannesburg': ['Cape Town', 'Johannesburg'],
  'Asia/Dubai': ['Dubai'],
  'Asia/Kolkata': ['Delhi', 'Mumbai', 'Kolkata'],
  'Asia/Bangkok': ['Bangkok'],
  'Asia/Jakarta': ['Jakarta'],
  'Asia/Singapore': ['Singapore'],
  'Asia/Manila': ['Manila'],
  'Asia/Hong_Kong': ['Hong Kong'],
  'Asia/Shanghai': ['Beijing', 'Shanghai', '北京'],
  'Asia/Seoul': ['Seoul'],
  'Asia/Tokyo': ['Tokyo', 'Kyoto', 'Osaka', '東京', '京都', '大阪'],
  'Australia/Sydney': ['Sydney'],
  'Pacific/Auckland': ['Auckland'],
  'America/New_York': ['New York', 'Boston', 'Miami', 'Washington'],
  'America/Chicago': ['Chicago', 'Dallas', 'Austin'],
  'America/Denver': ['Denver'],
  'America/Los_Angeles': ['Los Angeles', 'San Francisco', 'Seattle'],
  'America/Toronto': ['Toronto', 'Montréal'],
  'America/Mexico_City': ['Mexico City'],
  'America/Havana': ['Havana'],
  'America/Bogota': ['Bogotá'],
  'America/Lima': ['Lima'],
  'America/Sao_Paulo': ['São Paulo'],
  'America/Argentina/Buenos_Aires': ['Buenos Aires'],
};

const zoneOf = new Map(
  Object.entries(zones).flatMap(([zone, cities]) => cities.map((city) => [fold(city), zone] as const)),
);

/** The local time of a city as `HH:MM`. */
export function timeIn(city: string, now: Date): string {
  const timeZone = zoneOf.get(fold(city));
  if (timeZone === undefined) throw new ToolError('unknown location');
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(now);
}

export const getTime: Tool = {
  run(args: Arguments) {
    const city = requireText(args, 'city');
    return { city, time: timeIn(city, new Date()) };
  },
};
