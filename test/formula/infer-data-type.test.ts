import { describe, expect, test } from 'vitest';
import { type DataType, dataTypeOf } from '../../lib/formula/infer-data-type.ts';
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
    ['SUM(`count`)', 'LONG'],
    ['AVG(`count`)', 'DOUBLE'],
    ['SUM(`price`)', 'DECIMAL'],
    ['SUM(`count`) + AVG(`count`)', 'DOUBLE'],
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
    ["IF(`count` > 1, 'x', 'y')", 'STRING'],
    ['IF(`count` > 1, 1, 2.5)', 'DECIMAL'],
    ['CAST(`name` AS SIGNED)', 'LONG'],
    ['CAST(`name` AS UNSIGNED INTEGER)', 'LONG'],
    ['CAST(`name` AS BIGINT)', 'LONG'],
    ['CAST(`name` AS DECIMAL(10, 2))', 'DECIMAL'],
    ['CAST(`count` AS CHAR)', 'STRING'],
    ['CAST(`name` AS VARCHAR(20))', 'STRING'],
    ['CAST(`moment` AS DATE)', 'DATE'],
    ['CONVERT(`name`, DATETIME)', 'DATETIME'],
    ['CONVERT(`name`, DOUBLE)', 'DOUBLE'],
    ["DATE '2026-01-31'", 'DATE'],
    ["TIMESTAMP '2026-01-31 10:00:00'", 'DATETIME'],
    ['SERVICE_OP_MULTIPLY(`count`, `price`)', 'DECIMAL'],
    ['0xE', 'LONG'],
    ['HLL_SKETCH_EXTRACT(HLL_SKETCH_MERGE(HLL_SKETCH_INIT(`name`)))', 'LONG'],
    ['FIRST_VALUE(`day` IGNORE NULLS) OVER ()', 'DATE'],
    ['SQRT(`count`)', 'DOUBLE'],
  ])('finds that %s is a %s', (text, expected) => {
    const dataType = dataTypeOf(parsed(text), columnTypes);

    expect(dataType).toBe(expected);
  });

  test.each<[string, DataType]>([
    ['`unknown`', 'STRING'],
    ['`unknown` + 1', 'DECIMAL'],
    ['SUM(`unknown`)', 'DECIMAL'],
    ['MAX(`unknown`)', 'STRING'],
    ['SERVICE_BEAST_MODE(1)', 'STRING'],
    ['SERVICE_BEAST_MODE(1) * 2', 'DECIMAL'],
    ['NO_SUCH(1)', 'STRING'],
    ['CAST(1 AS JSON)', 'STRING'],
  ])('assumes that %s is a %s when the columns are unknown', (text, expected) => {
    const dataType = dataTypeOf(parsed(text));

    expect(dataType).toBe(expected);
  });
});
