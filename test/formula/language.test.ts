import { describe, expect, test } from 'vitest';
import { parseFormula } from '../../lib/formula/analyze.ts';
import { catalog } from '../../lib/formula/infer-data-type.ts';
import { printFormula } from '../../lib/formula/print.ts';
import { parsed } from './formulas.ts';

describe('the formula language', () => {
  test.each([
    ['a column in backticks', '`Order Date`', '`Order Date`'],
    ['a column that contains a backtick', '`a``b`', '`a``b`'],
    ['text in single quotes', "'Closed Won'", "'Closed Won'"],
    ['text that contains a quote, doubled or escaped', "'it''s' = 'it\\'s'", "'it''s' = 'it''s'"],
    ['text with escapes', "'a\\tb\\\\c\\q'", "'a\tb\\\\cq'"],
    ['a wildcard that is escaped for LIKE', "`a` LIKE '50\\%'", "`a` LIKE '50\\\\%'"],
    ['a number larger than 2^53', '12345678901234567890.10', '12345678901234567890.10'],
    ['a number with an exponent', '1.5E-7 + .5', '1.5E-7 + .5'],
    ['NULL, TRUE and FALSE in any case', 'coalesce(null, True, FALSE)', 'COALESCE(NULL, TRUE, FALSE)'],
    ['function names in any case', 'DateDiff(`a`, curdate())', 'DATEDIFF(`a`, CURDATE())'],
    ['arithmetic', '1 + 2 - 3 * 4 / 5 % 6', '1 + 2 - 3 * 4 / 5 % 6'],
    ['unary minus', '-`a` * -5', '-`a` * -5'],
    ['comparisons', '1 = 2 <> 3 != 4 < 5 <= 6 > 7 >= 8 <=> 9', '1 = 2 <> 3 <> 4 < 5 <= 6 > 7 >= 8 <=> 9'],
    ['AND, OR and NOT', 'not 1 and 2 or 3', 'NOT 1 AND 2 OR 3'],
    ['&&, || and !', '!`a` = 1 && 2 || 3', '(NOT `a`) = 1 AND 2 OR 3'],
    ['IN and NOT IN', "`a` IN (1, 2) OR `a` not in ('x')", "`a` IN (1, 2) OR `a` NOT IN ('x')"],
    ['LIKE and NOT LIKE', "`a` like '%x' AND `a` NOT LIKE 'y'", "`a` LIKE '%x' AND `a` NOT LIKE 'y'"],
    [
      'BETWEEN and NOT BETWEEN',
      '1 BETWEEN 2 AND 3 AND 4 NOT BETWEEN 5 AND 6',
      '1 BETWEEN 2 AND 3 AND 4 NOT BETWEEN 5 AND 6',
    ],
    ['IS NULL and IS NOT NULL', '`a` is null OR `b` IS NOT NULL', '`a` IS NULL OR `b` IS NOT NULL'],
    ['IS TRUE', '`a` IS TRUE', '`a` IS TRUE'],
    ['a searched CASE', "case when `a` > 1 then 'x' else 'y' end", "CASE WHEN `a` > 1 THEN 'x' ELSE 'y' END"],
    ['a simple CASE', 'CASE `a` WHEN 1 THEN 2 WHEN 3 THEN 4 END', 'CASE `a` WHEN 1 THEN 2 WHEN 3 THEN 4 END'],
    ['an interval as an argument', 'DATE_ADD(`d`, interval 3 month)', 'DATE_ADD(`d`, INTERVAL 3 MONTH)'],
    ['an interval added', '`d` - INTERVAL -`n` + 1 DAY', '`d` - INTERVAL -`n` + 1 DAY'],
    ['CURRENT_DATE without parentheses', 'Current_Date', 'CURRENT_DATE()'],
    ['CURRENT_TIMESTAMP with parentheses', 'CURRENT_TIMESTAMP ( )', 'CURRENT_TIMESTAMP()'],
    ['COUNT(*)', 'count( * )', 'COUNT(*)'],
    [
      'DISTINCT in COUNT and SUM',
      'COUNT(distinct `a`) + SUM(DISTINCT `b`)',
      'COUNT(DISTINCT `a`) + SUM(DISTINCT `b`)',
    ],
    ['an empty window', 'RANK() OVER ()', 'RANK() OVER ()'],
    [
      'a window with its own order',
      'RANK() OVER (ORDER BY SUM(`x`) DESC, `y` ASC)',
      'RANK() OVER (ORDER BY SUM(`x`) DESC, `y`)',
    ],
    [
      'an aggregate over a window',
      'SUM(SUM(`x`)) over (partition by `a`, `b` order by `c`)',
      'SUM(SUM(`x`)) OVER (PARTITION BY `a`, `b` ORDER BY `c`)',
    ],
    [
      'LAG and LEAD',
      'LAG(`x`) OVER () - LEAD(`x`, 1, 0) OVER ()',
      'LAG(`x`) OVER () - LEAD(`x`, 1, 0) OVER ()',
    ],
    ['a function within a window', 'RANK() OVER (ORDER BY ABS(`x`))', 'RANK() OVER (ORDER BY ABS(`x`))'],
    ['FIXED BY', 'SUM(SUM(`x`) FIXED (BY `a`, `b`))', 'SUM(SUM(`x`) FIXED (BY `a`, `b`))'],
    ['FIXED ADD', 'AVG(SUM(`x`) fixed (add `a`))', 'AVG(SUM(`x`) FIXED (ADD `a`))'],
    ['FIXED REMOVE', 'MAX(MAX(`x`) FIXED (REMOVE `a`))', 'MAX(MAX(`x`) FIXED (REMOVE `a`))'],
    ['FIXED over the total', 'SUM(`x`) / SUM(SUM(`x`) FIXED ())', 'SUM(`x`) / SUM(SUM(`x`) FIXED ())'],
    [
      'FIXED with a filter',
      'SUM(SUM(`x`) FIXED (by `a` filter deny `b`))',
      'SUM(SUM(`x`) FIXED (BY `a` FILTER DENY `b`))',
    ],
    ['a filter alone', 'SUM(SUM(`x`) FIXED (FILTER NONE))', 'SUM(SUM(`x`) FIXED (FILTER NONE))'],
    ['a calculation by its id', 'any_beast_mode(90071992547409931)', 'ANY_BEAST_MODE(90071992547409931)'],
    ['a variable by its id', '`x` * Any_Variable(7)', '`x` * ANY_VARIABLE(7)'],
    [
      'a frame',
      'SUM(`x`) OVER (ORDER BY `d` rows between unbounded preceding and current row)',
      'SUM(`x`) OVER (ORDER BY `d` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)',
    ],
    [
      'nulls in an order',
      'RANK() OVER (ORDER BY `x` DESC NULLS LAST)',
      'RANK() OVER (ORDER BY `x` DESC NULLS LAST)',
    ],
    ['nulls that a window skips', 'LAG(`x`) ignore nulls OVER ()', 'LAG(`x` IGNORE NULLS) OVER ()'],
    ['XOR, DIV and MOD', '1 xor 7 div 2 mod 2', '1 XOR 7 DIV 2 % 2'],
    ['RLIKE and REGEXP', "`a` rlike 'x' AND `a` NOT REGEXP 'y'", "`a` REGEXP 'x' AND `a` NOT REGEXP 'y'"],
    ['an escape of LIKE', "`a` LIKE '5!%' escape '!'", "`a` LIKE '5!%' ESCAPE '!'"],
    ['a cast', 'cast(`a` as decimal(10,2))', 'CAST(`a` AS DECIMAL(10, 2))'],
    ['a part of a date', 'extract(year from `d`)', 'EXTRACT(YEAR FROM `d`)'],
    ['a side of TRIM', "TRIM(leading '0' from `a`)", "TRIM(LEADING '0' FROM `a`)"],
    ['a position', "POSITION('x' IN `a`)", "POSITION('x' IN `a`)"],
    [
      'a list of a group',
      "GROUP_CONCAT(DISTINCT `a` order by `b` desc separator ';')",
      "GROUP_CONCAT(DISTINCT `a` ORDER BY `b` DESC SEPARATOR ';')",
    ],
    ['a date in a text', "date '2026-01-31' + interval '1' day", "DATE '2026-01-31' + INTERVAL '1' DAY"],
    ['text in double quotes', '"it\'s a ""b"" "', "'it''s a \"b\" '"],
    [
      'columns without backticks and in brackets',
      'Net_Sales / [Order ]]Count]',
      '`Net_Sales` / `Order ]Count`',
    ],
    ['a plus sign', '+`a` + +1', '`a` + 1'],
    ['comments and line breaks', '-- agreed\r\nSUM(`a`) /* two\nlines */ + 1 -- end', 'SUM(`a`) + 1'],
    ['spaces from copy and paste', '\u00A01\u2003+ 2\uFEFF', '1 + 2'],
  ])('has %s', (_, text, canonical) => {
    const printed = printFormula(parsed(text));

    expect(printed).toBe(canonical);
  });

  test.each([
    ['aggregates', 'AVG COUNT MAX MIN SUM STDDEV_POP VAR_POP APPROXIMATE_COUNT_DISTINCT'],
    ['window functions', 'RANK DENSE_RANK LAG LEAD'],
    ['sketches', 'HLL_SKETCH_INIT HLL_SKETCH_MERGE HLL_SKETCH_MERGE_PARTIAL HLL_SKETCH_EXTRACT'],
    ['mathematics', 'ABS MOD POWER RAND ROUND CEILING FLOOR'],
    ['logic', 'IFNULL NULLIF COALESCE'],
    ['text', 'CONCAT INSTR LEFT LENGTH LOWER REPLACE RIGHT SUBSTRING TRIM UPPER'],
    ['today', 'CURDATE CURTIME CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP NOW SYSDATE'],
    ['moving dates', 'ADDDATE ADDTIME DATE_ADD DATE_SUB LAST_DAY PERIOD_ADD SUBDATE SUBTIME'],
    [
      'parts of dates',
      'DATE DAY DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR HOUR MINUTE MONTH MONTHNAME QUARTER SECOND',
    ],
    ['more parts of dates', 'TIME WEEK WEEKDAY WEEKOFYEAR YEAR YEARWEEK'],
    ['differences of dates', 'DATEDIFF PERIOD_DIFF TIMEDIFF'],
    ['converting dates', 'DATE_FORMAT FROM_DAYS FROM_UNIXTIME SEC_TO_TIME STR_TO_DATE TIMESTAMP TIME_FORMAT'],
    ['counting days', 'TIME_TO_SEC TO_DAYS UNIX_TIMESTAMP'],
  ])('has the functions for %s', (_, names) => {
    const known = [...catalog.keys()];

    expect(known).toEqual(expect.arrayContaining(names.split(' ')));
  });

  test.each(['SQRT(4)', "CONVERT_TZ(`d`, 'a', 'b')", 'MICROSECOND(`d`)', 'IF(1, 2, 3)', 'NO_SUCH(1)'])(
    'may not include %s, so a warning says so',
    (text) => {
      const result = parseFormula(text);

      expect(result).toMatchObject({
        warnings: [{ message: expect.stringMatching(/^The platform may not have a function "/) }],
      });
    },
  );
});
