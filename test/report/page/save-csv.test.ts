import { expect, test } from 'vitest';
import { csvOf } from '../../../lib/report/page/lists/save-csv.ts';

test('rows as CSV have what is shown, numbers as digits, and texts as they are', () => {
  const names = ['Margin, "net"', '=1+1'];
  const columns = [
    { name: 'name', label: 'Name', text: (row: number) => names[row] ?? '' },
    {
      name: 'size',
      label: 'Size',
      text: () => '1.2 MB',
      number: (row: number) => row || null,
      isNumber: true,
    },
  ];

  expect(csvOf(columns, [1, 0])).toBe(`Name,Size\r\n=1+1,1\r\n"Margin, ""net""",\r\n`);
});
