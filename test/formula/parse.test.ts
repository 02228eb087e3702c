import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { MAX_LENGTH, parseFormula } from '../../lib/formula/parse.ts';
import { complaints, parsed } from './formulas.ts';

describe('parseFormula', () => {
  test('returns a tree whose nodes know where they start', () => {
    const result = parseFormula("SUM(`Net``Sales`) > 10 /* € */ AND 'it''s' LIKE NULL");

    expect(result).toEqual({
      kind: 'parsed',
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

  test('keeps a chain of operators flat, however long it is', () => {
    const formula = parsed(`1${' + 1'.repeat(20_000)}`);

    expect(formula).toMatchObject({ first: { kind: 'number' }, rest: { length: 20_000 } });
  });

  test('says where a fault is by offset, line and column', () => {
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
    [
      'Sales / 2',
      '"Sales" is neither a column nor a function: write columns in backticks, text in single quotes.',
    ],
    ['NOW + 1', 'Expected "(" after the function NOW.'],
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
    ['SUM(SUM(`a`) FIXED (BY 1))', 'Expected a column in backticks, but got "1".'],
    ['NOW() - INTERVAL 1', 'Expected a unit such as DAY, but the formula ends here.'],
    ['NOW() - INTERVAL 1 DAYS', 'There is no unit "DAYS": did you mean DAY?'],
    [
      'INTERVAL 1 DAY',
      'INTERVAL is allowed only next to + or -, or as the second argument of ADDDATE, DATE_ADD, DATE_SUB, SUBDATE.',
    ],
    ['SUBSTR(`a`, 1)', 'There is no function "SUBSTR": did you mean SUBSTRING?'],
    ['CONCTA(1)', 'There is no function "CONCTA": did you mean CONCAT?'],
    ['SQRT(4)', 'There is no function "SQRT".'],
    ['SUM(`a`, `b`)', 'SUM takes 1 argument, but got 2.'],
    ['SUBSTRING(`a`)', 'SUBSTRING takes 2 to 3 arguments, but got 1.'],
    ['CONCAT()', 'CONCAT takes at least 1 argument, but got 0.'],
    ['AVG(DISTINCT `a`)', 'AVG does not take DISTINCT.'],
    ['SUM(*)', 'SUM does not take "*" here.'],
    ['RANK()', 'Expected OVER (…) after RANK.'],
    ['RANK() OVER (ORDER BY RANK())', 'Expected OVER (…) after RANK.'],
    ['ABS(1) OVER ()', 'ABS does not take OVER.'],
    ['SUM(`a`) FIXED ()', 'FIXED is allowed only inside an aggregate, as in SUM(SUM(…) FIXED (…)).'],
    ['SUM(ABS(1) FIXED ())', 'Expected an aggregate such as SUM before FIXED, but got ABS.'],
    ['CALCULATION(`a`)', 'CALCULATION takes the numeric id of a calculation.'],
    ['VARIABLE(1.5)', 'VARIABLE takes the numeric id of a variable.'],
  ])('says about %j: %s', (text, complaint) => {
    const [first] = complaints(text);

    expect(first).toBe(complaint);
  });

  test('reports every misused function at once', () => {
    const all = complaints('SQRT(1) + RANK() + SUM()');

    expect(all).toEqual([
      'There is no function "SQRT".',
      'Expected OVER (…) after RANK.',
      'SUM takes 1 argument, but got 0.',
    ]);
  });

  test('reports at most twenty faults', () => {
    const all = complaints('@ '.repeat(50));

    expect(all).toHaveLength(20);
  });

  test('points at the end of a formula that ends too early', () => {
    const result = parseFormula('1 +\n');

    expect(result).toMatchObject({ faults: [{ offset: 4, line: 2, column: 1 }] });
  });

  test('shortens what it quotes without splitting a character', () => {
    const [complaint] = complaints('😀'.repeat(50));

    expect(complaint).toContain(`Unexpected ${'😀'.repeat(40)}…: write`);
  });
});

describe('parseFormula, given too much', () => {
  test.each([
    ['parentheses', '(', ')'],
    ['function calls', 'ABS(', ')'],
    ['CASEs', 'CASE WHEN TRUE THEN ', ' END'],
    ['NOTs', 'NOT ', ''],
    ['signs', '- ', ''],
  ])('accepts 63 nested %s and refuses 64', (_, open, close) => {
    const [few, many] = [63, 64].map((depth) => complaints(`${open.repeat(depth)}1${close.repeat(depth)}`));

    expect(few).toEqual([]);
    expect(many).toEqual(['Expected at most 64 levels of nested parentheses, CASEs, NOTs and signs.']);
  });

  test.each(['(', 'ABS(', 'CASE WHEN TRUE THEN ', 'NOT ', '- '])(
    'has a limit that the stack of a new process allows: %s',
    (open) => {
      const path = JSON.stringify(new URL('../../lib/formula/parse.ts', import.meta.url).href);
      const close = open.endsWith('(') ? ')' : open.startsWith('CASE') ? ' END' : '';
      const text = JSON.stringify(`${open.repeat(63)}1${close.repeat(63)}`);
      const script = `const { parseFormula } = await import(${path}); console.log(parseFormula(${text}).kind);`;

      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script]);

      expect(stdout.toString()).toBe('parsed\n');
    },
  );

  test('still parses after a formula that was too deep', () => {
    const tooDeep = parseFormula('('.repeat(100_000));

    const next = parseFormula('(1)');

    expect([tooDeep.kind, next.kind]).toEqual(['failed', 'parsed']);
  });

  test('refuses more than a million characters', () => {
    const [complaint] = complaints(' '.repeat(MAX_LENGTH + 1));

    expect(complaint).toBe('Expected at most 1000000 characters.');
  });

  test('reads a column and a text of a million characters', () => {
    const column = parseFormula(`\`${'``'.repeat(499_999)}\``);
    const text = parseFormula(`'${"''".repeat(499_999)}'`);

    expect([column.kind, text.kind]).toEqual(['parsed', 'parsed']);
  });
});
