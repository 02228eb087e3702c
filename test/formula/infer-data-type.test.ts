import { describe, expect, test } from 'vitest';
import type { DataType } from '../../lib/formula/data-type.ts';
import { dataTypeOf } from '../../lib/formula/infer-data-type.ts';
import { parsed } from './formulas.ts';

const columnTypes = new Map<string, DataType>([
  ['count', 'LONG'],
  ['price', 'DECIMAL'],
  ['rate', 'DOUBLE'],
  ['name', 'STRING'],
  ['day', 'DATE'],
  ['moment', 'DATETIME'],
]);

describe('dataTypeOf', () => {
  test.each<[string, DataType]>([
    ['1', 'LONG'],
    ['1.5', 'DECIMAL'],
    ['1e5', 'DOUBLE'],
    ["'x'", 'STRING'],
    ['NULL', 'STRING'],
    ['TRUE', 'LONG'],
    ['`count`', 'LONG'],
    ['-`rate`', 'DOUBLE'],
    ['`count` + 1', 'LONG'],
    ['`count` / 2', 'DECIMAL'],
    ['`count` * `price`', 'DECIMAL'],
    ['`price` - `rate`', 'DOUBLE'],
    ['`name` + 1', 'DOUBLE'],
    ['`count` > 1 AND `name` IS NULL', 'LONG'],
    ["`name` LIKE 'x'", 'LONG'],
    ['SUM(`count`)', 'DECIMAL'],
    ['SUM(`rate`)', 'DOUBLE'],
    ['COUNT(*)', 'LONG'],
    ['MAX(`day`)', 'DATE'],
    ['RANK() OVER ()', 'LONG'],
    ['LAG(`day`) OVER ()', 'DATE'],
    ['SUM(MAX(`rate`) FIXED ())', 'DOUBLE'],
    ["CASE WHEN `count` = 1 THEN 'x' END", 'STRING'],
    ['CASE WHEN `count` = 1 THEN 1 ELSE 2.5 END', 'DECIMAL'],
    ['CASE WHEN `count` = 1 THEN `day` ELSE `moment` END', 'DATETIME'],
    ["COALESCE(NULL, `price`, 'none')", 'STRING'],
    ['IFNULL(`count`, 0)', 'LONG'],
    ['CURRENT_DATE', 'DATE'],
    ['NOW()', 'DATETIME'],
    ['DATE_ADD(`day`, INTERVAL 1 MONTH)', 'DATE'],
    ['DATE_ADD(`day`, INTERVAL 1 HOUR)', 'DATETIME'],
    ['`moment` - INTERVAL 1 DAY', 'DATETIME'],
    ['ADDDATE(`day`, 3)', 'DATE'],
    ['DATEDIFF(`day`, `moment`)', 'LONG'],
    ['CURRENT_TIME', 'STRING'],
  ])('finds that %s is a %s', (text, expected) => {
    const dataType = dataTypeOf(parsed(text), columnTypes);

    expect(dataType).toBe(expected);
  });

  test.each<[string, DataType]>([
    ['`unknown`', 'STRING'],
    ['`unknown` + 1', 'DECIMAL'],
    ['SUM(`unknown`)', 'DECIMAL'],
    ['MAX(`unknown`)', 'STRING'],
    ['CALCULATION(1)', 'STRING'],
    ['CALCULATION(1) * 2', 'DECIMAL'],
  ])('assumes that %s is a %s when the columns are unknown', (text, expected) => {
    const dataType = dataTypeOf(parsed(text));

    expect(dataType).toBe(expected);
  });
});
