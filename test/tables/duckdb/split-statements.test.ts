import { describe, expect, test } from 'vitest';
import { splitStatements } from '../../../lib/tables/duckdb/query-text.ts';

describe('splitting SQL at semicolons', () => {
  test('yields several statements, and the rest', () => {
    expect(splitStatements('SELECT 1; SELECT 2;\nSELECT')).toEqual({
      ended: ['SELECT 1', 'SELECT 2'],
      rest: 'SELECT',
      hasRest: true,
      isOpen: false,
    });
  });

  test('yields no statement for comments', () => {
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
  ])('ignores semicolons in %s', (sql) => {
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
  ])('keeps an unfinished token open: %s', (sql) => {
    expect(splitStatements(sql)).toEqual({ ended: [], rest: sql, hasRest: true, isOpen: true });
  });
});
