import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { parseFormula } from '../../lib/formula/analyze.ts';
import { complaints, parsed } from './formulas.ts';

describe('parseFormula', () => {
  test('returns a tree whose nodes know where they start', () => {
    const result = parseFormula("SUM(`Net``Sales`) > 10 /* € */ AND 'it''s' LIKE NULL");

    expect(result).toEqual({
      kind: 'parsed',
      warnings: [],
      formula: {
        kind: 'operation',
        offset: 0,
        first: {
          kind: 'operation',
          offset: 0,
          first: {
            kind: 'call',
            name: 'SUM',
            distinct: false,
            args: [{ kind: 'column', name: 'Net`Sales', offset: 4 }],
            offset: 0,
          },
          rest: [{ operator: '>', operand: { kind: 'number', source: '10', offset: 20 } }],
        },
        rest: [
          {
            operator: 'AND',
            operand: {
              kind: 'like',
              word: 'LIKE',
              operand: { kind: 'text', value: "it's", offset: 35 },
              pattern: { kind: 'constant', value: 'NULL', offset: 48 },
              negated: false,
              offset: 35,
            },
          },
        ],
      },
    });
  });

  test('does not nest a chain of operators, whatever its length', () => {
    const formula = parsed(`1${' + 1'.repeat(20_000)}`);

    expect(formula).toMatchObject({ first: { kind: 'number' }, rest: { length: 20_000 } });
  });

  test('reports the position of a fault as offset, line and column', () => {
    const result = parseFormula('SUM(`a`)\r\n  + /* 😀 */ @');

    expect(result).toEqual({
      kind: 'failed',
      faults: [
        {
          message: 'Unexpected @: write columns in backticks, text in single quotes.',
          offset: 23,
          line: 2,
          column: 14,
        },
      ],
    });
  });

  test.each([
    ['', 'Expected a value, but the formula ends here.'],
    ['1 +', 'Expected a value, but the formula ends here.'],
    ['`Sales', 'This column is not closed: expected another backtick.'],
    ['`Sales``', 'This column is not closed: expected another backtick.'],
    ["'open", "This text is not closed: expected another ' (a ' within the text is written '')."],
    ['1 /* open', 'This comment is not closed: expected "*/".'],
    ['``', 'Expected a column name between the backticks.'],
    ['1 2', 'Expected an operator or the end of the formula, but got "2".'],
    ['(1))', 'This ")" has no matching "(".'],
    ['1 +\n(2', 'Expected ")", but the formula ends here. The "(" at line 2, column 1 is not closed.'],
    [
      'CASE WHEN 1 THEN 2',
      'Expected END, but the formula ends here. The "CASE" at line 1, column 1 is not closed.',
    ],
    ['CASE 1 END', 'Expected WHEN, but got "END".'],
    ['CASE WHEN 1 ELSE 2 END', 'Expected THEN, but got "ELSE".'],
    [
      'SUM(',
      'Expected a value or ")", but the formula ends here. The "(" at line 1, column 4 is not closed.',
    ],
    ['ABS(1,)', 'Expected a value, but got ")".'],
    ['1 IN ()', 'Expected a value, but got ")".'],
    ['1 NOT 2', 'Expected IN, LIKE or BETWEEN, but got "2".'],
    ['1 IS 2', 'Expected NULL, TRUE or FALSE, but got "2".'],
    ['NOW() - INTERVAL 1', 'Expected a unit such as DAY, but the formula ends here.'],
    ['SUBSTRING(`a`)', 'SUBSTRING takes 2 to 3 arguments, but got 1.'],
    ['CONCAT()', 'CONCAT takes at least 1 argument, but got 0.'],
  ])('says about %j: %s', (text, complaint) => {
    const [first] = complaints(text);

    expect(first).toBe(complaint);
  });

  test.each([
    ['"open', 'This text is not closed: expected another " (a " within the text is written "").'],
    ['[Order Date', 'This column is not closed: expected "]".'],
    ['‘x’', 'Unexpected ‘: write columns in backticks, text in single quotes.'],
    ['[]', 'Expected a column name between the backticks.'],
    ['SUM(Total Sales)', 'Expected ")", but got "Sales".'],
    ["Sales 'x'", 'Expected an operator or the end of the formula, but got "\'x\'".'],
    ['`a` ==  1', 'Expected a value, but got "=".'],
    ['1; 2', 'Expected an operator or the end of the formula, but got "2".'],
    ['/* a /* b */ c */ 1', 'Expected a value, but got "/".'],
    ['CAST(`a` AS)', 'Expected a type such as CHAR, but got ")".'],
    ['CAST(`a` AS DECIMAL(x))', 'Expected a number, but got "x".'],
    ['EXTRACT(YEAR FROM)', 'Expected a value, but got ")".'],
    ["TRIM(BOTH 'x' FROM)", 'Expected a value, but got ")".'],
    ["`a` LIKE 'x' ESCAPE", 'Expected a value, but the formula ends here.'],
    ['`a` RLIKE', 'Expected a value, but the formula ends here.'],
    ['1 BETWEEN 2', 'Expected AND, but the formula ends here.'],
    ['SUM(`a`) OVER (PARTITION `b`)', 'Expected BY, but got "`b`".'],
    ['SUM(`a`) OVER (ROWS BETWEEN 1 PRECEDING)', 'Expected AND, but got ")".'],
    ['SUM(`a`) OVER (ROWS 1)', 'Expected PRECEDING, FOLLOWING or ROW, but got ")".'],
    ['SUM(`a`) OVER (ORDER BY `b` NULLS)', 'Expected FIRST or LAST, but got ")".'],
    ['LAG(`a` IGNORE) OVER ()', 'Expected NULLS, but got ")".'],
    ['SUM(SUM(`a`) FIXED (BY))', 'Expected a column in backticks, but got ")".'],
    ['SUM(SUM(`a`) FIXED (FILTER))', 'Expected NONE, ALLOW or DENY, but got ")".'],
    ['SUM(SUM(`a`) FIXED (`b`))', 'Expected BY, ADD, REMOVE, FILTER or ")", but got "`b`".'],
    ['`a` AND', 'Expected a value, but the formula ends here.'],
    ['`a` = NOT `b`', 'Expected a value, but got "NOT".'],
  ])('says about %j, whose clause or quote is broken: %s', (text, complaint) => {
    const [first] = complaints(text);

    expect(first).toBe(complaint);
  });

  test.each([
    ['Sales / 2', '"Sales" is read as a column: write columns in backticks, text in single quotes.'],
    ['NOW + 1', '"NOW" is read as a column: a function needs "(".'],
    ['[Sales]', 'A column is written in backticks: the platform may not support brackets.'],
    ['"x"', 'Text is written in single quotes: the platform may not support double quotes.'],
    ['`t`.`a`', 'A column is written without its table, which is ignored here.'],
    ['1 # two', 'A comment begins with -- or /*: the platform may not support #.'],
    ['1\u200b', 'There is an invisible character here: remove it.'],
    ['1;', 'A formula must not end with ";": remove it.'],
    ['`a` DIV 2', 'The platform may not support DIV.'],
    ['SUM(SUM(`a`) FIXED (BY 1))', 'FIXED takes columns after BY, ADD, REMOVE, ALLOW and DENY.'],
    ['NOW() - INTERVAL 1 DAYS', 'There is no unit "DAYS": did you mean DAY?'],
    [
      'INTERVAL 1 DAY',
      'INTERVAL is allowed only next to + or -, or as the second argument of ADDDATE, DATE_ADD, DATE_SUB, SUBDATE.',
    ],
    ['SUBSTR(`a`, 1)', 'The platform may not have a function "SUBSTR": did you mean SUBSTRING?'],
    ['CONCTA(1)', 'The platform may not have a function "CONCTA": did you mean CONCAT?'],
    ['SQRT(4)', 'The platform may not have a function "SQRT".'],
    ['SUM(`a`, `b`)', 'SUM takes 1 argument, but got 2.'],
    ['AVG(DISTINCT `a`)', 'AVG may not support DISTINCT.'],
    ['SUM(*)', 'SUM does not take "*" here.'],
    ['RANK()', 'Expected OVER (…) after RANK.'],
    ['RANK() OVER (ORDER BY RANK())', 'Expected OVER (…) after RANK.'],
    ['ABS(1) OVER ()', 'ABS does not take OVER.'],
    ['SUM(`a`) FIXED ()', 'FIXED is allowed only inside an aggregate, as in SUM(SUM(…) FIXED (…)).'],
    ['SUM(ABS(1) FIXED ())', 'Expected an aggregate such as SUM before FIXED, but got ABS.'],
    ['SERVICE_BEAST_MODE(`a`)', 'SERVICE_BEAST_MODE takes the numeric id of a calculation.'],
    ['SERVICE_VARIABLE(1.5)', 'SERVICE_VARIABLE takes the numeric id of a variable.'],
    ['HLL_SKETCH_INIT(`a`, 22)', 'HLL_SKETCH_INIT takes a precision from 4 to 21, but got "22".'],
  ])('accepts %j, and warns: %s', (text, warning) => {
    const result = parseFormula(text);

    expect(result).toMatchObject({ kind: 'parsed', warnings: [{ message: warning }] });
  });

  test('reports every function that lacks its arguments, all together', () => {
    const all = complaints('SQRT(1) + ABS() + SUM()');

    expect(all).toEqual(['ABS takes 1 argument, but got 0.', 'SUM takes 1 argument, but got 0.']);
  });

  test('warns at most twenty times, in the order of the formula', () => {
    const result = parseFormula(`${'SQRT("x") + '.repeat(20)}1`);

    const offsets = result.kind === 'parsed' ? result.warnings.map(({ offset }) => offset) : [];
    expect(offsets).toHaveLength(20);
    expect(offsets.slice(0, 4)).toEqual([0, 5, 12, 17]);
  });

  test('reports at most twenty faults', () => {
    const all = complaints('@ '.repeat(50));

    expect(all).toHaveLength(20);
  });

  test('points at the end of a formula that ends too early', () => {
    const result = parseFormula('1 +\n');

    expect(result).toMatchObject({ faults: [{ offset: 4, line: 2, column: 1 }] });
  });

  test('shortens its quotes without splitting a character', () => {
    const [complaint] = complaints('😀'.repeat(50));

    expect(complaint).toContain(`Unexpected ${'😀'.repeat(40)}…: write`);
  });
});

describe('parseFormula, at its limits,', () => {
  test.each([
    ['parentheses', '(', ')'],
    ['function calls', 'ABS(', ')'],
    ['CASEs', 'CASE WHEN TRUE THEN ', ' END'],
    ['NOTs', 'NOT ', ''],
    ['signs', '- ', ''],
  ])('accepts 127 nested %s and refuses 128', (_, open, close) => {
    const [few, many] = [127, 128].map((depth) => complaints(`${open.repeat(depth)}1${close.repeat(depth)}`));

    expect(few).toEqual([]);
    expect(many).toEqual(['Expected at most 128 levels of nested parentheses, CASEs, NOTs and signs.']);
  });

  test.each([
    ['(', ')'],
    ['ABS(', ')'],
    ['CASE WHEN TRUE THEN ', ' END'],
    ['NOT ', ''],
    ['- ', ''],
    ['1 OR 1 XOR 1 AND 1 = 1 + 1 * ABS(', ')'],
    ['1 OR 1 XOR 1 AND 1 = 1 + 1 * CASE 1 WHEN ', ' THEN 1 END'],
  ])('has a limit that the stack of a new process allows: %s', (open, close) => {
    const path = JSON.stringify(new URL('../../lib/formula/index.ts', import.meta.url).href);
    const text = JSON.stringify(`${open.repeat(127)}1${close.repeat(127)}`);
    const script = `
      const { analyzeFormula, parseFormula, printFormula } = await import(${path});
      const { formula } = parseFormula(${text});
      console.log(analyzeFormula(${text}).status, printFormula(formula) !== '');`;

    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);

    expect(stdout.toString()).toBe('VALID true\n');
  });

  test('still works after a formula that was too deep', () => {
    const tooDeep = parseFormula('('.repeat(100_000));

    const next = parseFormula('(1)');

    expect([tooDeep.kind, next.kind]).toEqual(['failed', 'parsed']);
  });

  test('refuses more than a million characters', () => {
    const [complaint] = complaints(' '.repeat(1_000_001));

    expect(complaint).toBe('Expected at most 1000000 characters.');
  });

  test('reads a column and a string of a million characters', () => {
    const column = parseFormula(`\`${'``'.repeat(499_999)}\``);
    const text = parseFormula(`'${"''".repeat(499_999)}'`);

    expect([column.kind, text.kind]).toEqual(['parsed', 'parsed']);
  });
});
