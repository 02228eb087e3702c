import { describe, expect, test } from 'vitest';
import { splitStatements } from '../../../lib/tables/duckdb/query-text.ts';

describe('statements end at semicolons', () => {
  test('several, and what is left over', () => {
    expect(splitStatements('SELECT 1; SELECT 2;\nSELECT')).toEqual({
      ended: ['SELECT 1', 'SELECT 2'],
      rest: 'SELECT',
      hasRest: true,
      isOpen: false,
    });
  });

  test('nothing but comments is no statement', () => {
    expect(splitStatements(' ; -- a;\n /* b; */ ;\n')).toMatchObject({ ended: [], rest: '', hasRest: false });
  });

  test.each([
    "SELECT 'a;''b;'",
    'SELECT ";" FROM "a"";"',
    'SELECT 1 -- ; a\n + 2',
    'SELECT 1 /* ; */ + 2',
    'SELECT $$;$$',
    'SELECT $a$;$$;$a$',
    "SELECT e'\\';'",
    'SELECT a$b$ FROM c',
    'SELECT 😀',
  ])('except in %s', (sql) => {
    expect(splitStatements(`${sql};`)).toMatchObject({ ended: [sql], hasRest: false, isOpen: false });
  });

  test.each([
    "SELECT 'a;",
    "SELECT 'a''",
    'SELECT "a;',
    'SELECT $a$;$$',
    'SELECT /* ;',
    "SELECT e'a\\';",
    "SELECT '",
  ])('what is open stays open: %s', (sql) => {
    expect(splitStatements(sql)).toEqual({ ended: [], rest: sql, hasRest: true, isOpen: true });
  });
});
