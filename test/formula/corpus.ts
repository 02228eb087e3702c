/**
 * A formula in a form that people write, and what is known of it. The lists have spaces between their items, columns
 * have | between them. `warned`: the words that are warned of, by what a warning names; absent: nothing is.
 */
export type CorpusFormula = {
  readonly formula: string;
  readonly columns?: string;
  readonly functions?: string;
  readonly references?: string;
  readonly type: string;
  /** `aggregated`, `analytic` */
  readonly is?: string;
  readonly warned?: string;
};

const of = (
  formula: string,
  type: string,
  rest: Omit<CorpusFormula, 'formula' | 'type'> = {},
): CorpusFormula => ({
  formula,
  type,
  ...rest,
});

/** What is documented, and MySQL's common core: nothing to warn of. */
const plain: readonly CorpusFormula[] = [
  of('`Net Amount`', 'STRING', { columns: 'Net Amount' }),
  of('`a``b`', 'STRING', { columns: 'a`b' }),
  of('`Amount (USD) [net] "x" \'y\'`', 'STRING', { columns: 'Amount (USD) [net] "x" \'y\'' }),
  of('`Größe`+`数量`', 'DECIMAL', { columns: 'Größe|数量', functions: 'SERVICE_OP_ADD' }),
  of('``\r\n'.replace('``', '`A`'), 'STRING', { columns: 'A' }),
  of("''", 'STRING'),
  of("'it''s'", 'STRING'),
  of("'it\\'s'", 'STRING'),
  of("'C:\\\\'", 'STRING'),
  of("'`no column`'", 'STRING'),
  of("'\u{1F600} – “quoted”'", 'STRING'),
  of('42', 'LONG'),
  of('.5', 'DECIMAL'),
  of('5.', 'DECIMAL'),
  of('1e3', 'DOUBLE'),
  of('1.5E-7', 'DOUBLE'),
  of('0x1F', 'LONG'),
  of('-5', 'LONG'),
  of('+5', 'LONG'),
  of('- - 5', 'LONG'),
  of('TRUE', 'LONG'),
  of('null', 'STRING'),
  of('`A` + `B` - 1 * 2 / 3', 'DECIMAL', {
    columns: 'A|B',
    functions: 'SERVICE_OP_ADD SERVICE_OP_DIVIDE SERVICE_OP_MULTIPLY SERVICE_OP_SUBTRACT',
  }),
  of('`A` % 2', 'DECIMAL', { columns: 'A', functions: 'MOD' }),
  of('`A` = 1', 'LONG', { columns: 'A' }),
  of('`A` <> 1 and `B` != 2', 'LONG', { columns: 'A|B' }),
  of('`A` <=> NULL', 'LONG', { columns: 'A' }),
  of('`A` >= 1 AND `A`<=2 OR NOT `A` > 3', 'LONG', { columns: 'A' }),
  of('`A` && `B` || !`C`', 'LONG', { columns: 'A|B|C' }),
  of("`A` IN ('x','y', 'z')", 'LONG', { columns: 'A' }),
  of('`A` not in (1)', 'LONG', { columns: 'A' }),
  of("`A` LIKE '%x_'", 'LONG', { columns: 'A' }),
  of("`A` NOT LIKE CONCAT(`B`, '%')", 'LONG', { columns: 'A|B', functions: 'CONCAT' }),
  of('`A` BETWEEN 1 AND 2 AND `B` NOT BETWEEN `C` AND 4', 'LONG', { columns: 'A|B|C' }),
  of('`A` IS NULL', 'LONG', { columns: 'A' }),
  of('`A` is not null', 'LONG', { columns: 'A' }),
  of('`A` IS TRUE OR `B` IS NOT FALSE OR `C` IS UNKNOWN', 'LONG', { columns: 'A|B|C' }),
  of("CASE WHEN `A` > 1 THEN 'x' ELSE 'y' END", 'STRING', { columns: 'A' }),
  of("case `A` when 1 then 'x' when 2 then 'y' end", 'STRING', { columns: 'A' }),
  of('CASE WHEN `A` = 1 THEN 1 ELSE CASE WHEN `B` = 2 THEN 2.5 ELSE NULL END END', 'DECIMAL', {
    columns: 'A|B',
  }),
  of(
    "(CASE\r\n\tWHEN `A` IS NULL THEN 'none'\r\n\tWHEN (`A` = '') THEN ''\r\n\tELSE `A`\r\nEND)\r\n",
    'STRING',
    {
      columns: 'A',
    },
  ),
  of("CASE WHEN(`A`='x')THEN(1)ELSE(0)END", 'LONG', { columns: 'A' }),
  of('SUM(CASE WHEN `Year` = YEAR(CURDATE()) THEN `Amount` ELSE 0 END)', 'LONG', {
    columns: 'Year|Amount',
    functions: 'CURDATE SUM YEAR',
    is: 'aggregated',
  }),
  of('SUM ( `A` ) / NULLIF(COUNT( DISTINCT `B` ), 0)', 'DECIMAL', {
    columns: 'A|B',
    functions: 'COUNT NULLIF SERVICE_OP_DIVIDE SUM',
    is: 'aggregated',
  }),
  of('count(*)', 'LONG', { functions: 'COUNT', is: 'aggregated' }),
  of('COUNT(DISTINCT `A`, `B`)', 'LONG', { columns: 'A|B', functions: 'COUNT', is: 'aggregated' }),
  of('COUNT(DISTINCT(CASE WHEN `A` = 1 THEN `B` END))', 'LONG', {
    columns: 'A|B',
    functions: 'COUNT',
    is: 'aggregated',
  }),
  of('SUM(DISTINCT `A`)', 'DECIMAL', { columns: 'A', functions: 'SUM', is: 'aggregated' }),
  of('MAX(`A`) - MIN(`A`)', 'DECIMAL', {
    columns: 'A',
    functions: 'MAX MIN SERVICE_OP_SUBTRACT',
    is: 'aggregated',
  }),
  of('AVG(LENGTH(`A`))', 'DOUBLE', { columns: 'A', functions: 'AVG LENGTH', is: 'aggregated' }),
  of('SUM(LENGTH(`A`))', 'LONG', { columns: 'A', functions: 'LENGTH SUM', is: 'aggregated' }),
  of('STDDEV_POP(`A`) / VAR_POP(`A`)', 'DOUBLE', {
    columns: 'A',
    functions: 'SERVICE_OP_DIVIDE STDDEV_POP VAR_POP',
    is: 'aggregated',
  }),
  of('APPROXIMATE_COUNT_DISTINCT(`A`)', 'LONG', {
    columns: 'A',
    functions: 'APPROXIMATE_COUNT_DISTINCT',
    is: 'aggregated',
  }),
  of('RANK() OVER (ORDER BY SUM(`A`) DESC)', 'LONG', {
    columns: 'A',
    functions: 'RANK SUM',
    is: 'aggregated analytic',
  }),
  of('DENSE_RANK() OVER(PARTITION BY `A`, `B` ORDER BY `C`, `D` DESC)', 'LONG', {
    columns: 'A|B|C|D',
    functions: 'DENSE_RANK',
    is: 'analytic',
  }),
  of('LAG(SUM(`A`), 1, 0) OVER (ORDER BY `D`)', 'DECIMAL', {
    columns: 'A|D',
    functions: 'LAG SUM',
    is: 'aggregated analytic',
  }),
  of('SUM(SUM(`A`)) OVER ()', 'DECIMAL', { columns: 'A', functions: 'SUM', is: 'aggregated analytic' }),
  of('SUM(SUM(`A`)) OVER (PARTITION BY YEAR(`D`))', 'DECIMAL', {
    columns: 'A|D',
    functions: 'SUM YEAR',
    is: 'aggregated analytic',
  }),
  of('SUM(SUM(`A`) FIXED ())', 'DECIMAL', { columns: 'A', functions: 'SUM', is: 'aggregated' }),
  of('SUM(SUM(`A`) fixed (by `B`, `C`))', 'DECIMAL', {
    columns: 'A|B|C',
    functions: 'SUM',
    is: 'aggregated',
  }),
  of('AVG(SUM(`A`) FIXED (ADD `B` FILTER NONE))', 'DOUBLE', {
    columns: 'A|B',
    functions: 'AVG SUM',
    is: 'aggregated',
  }),
  of('MAX(COUNT(DISTINCT `A`) FIXED (REMOVE `B` FILTER ALLOW `C`, `D`))', 'LONG', {
    columns: 'A|B|C|D',
    functions: 'COUNT MAX',
    is: 'aggregated',
  }),
  of('MIN(MIN(`A`) FIXED (BY `B` FILTER DENY `C`))', 'STRING', {
    columns: 'A|B|C',
    functions: 'MIN',
    is: 'aggregated',
  }),
  of('SUM(`A`) / SUM(SUM(`A`) FIXED (FILTER DENY `B`))', 'DECIMAL', {
    columns: 'A|B',
    functions: 'SERVICE_OP_DIVIDE SUM',
    is: 'aggregated',
  }),
  of('HLL_SKETCH_EXTRACT(HLL_SKETCH_MERGE(`A`))', 'LONG', {
    columns: 'A',
    functions: 'HLL_SKETCH_EXTRACT HLL_SKETCH_MERGE',
    is: 'aggregated',
  }),
  of('hll_sketch_merge_partial(hll_sketch_init(`A`, 12))', 'STRING', {
    columns: 'A',
    functions: 'HLL_SKETCH_INIT HLL_SKETCH_MERGE_PARTIAL',
    is: 'aggregated',
  }),
  of('HLL_SKETCH_INIT(`A`)', 'STRING', { columns: 'A', functions: 'HLL_SKETCH_INIT' }),
  of('SERVICE_BEAST_MODE(1008)', 'STRING', { references: 'calculation:1008' }),
  of('any_beast_mode( 9007199254740993 ) * 2', 'DECIMAL', {
    references: 'calculation:9007199254740993',
    functions: 'SERVICE_OP_MULTIPLY',
  }),
  of('ACME_VARIABLE(7) + Acme_Beast_Mode(8) + ACME_VARIABLE(7)', 'DECIMAL', {
    references: 'variable:7 calculation:8',
    functions: 'SERVICE_OP_ADD',
  }),
  of('SUM(CASE WHEN SERVICE_BEAST_MODE(12) = 1 THEN `A` ELSE SERVICE_VARIABLE(3) END)', 'DECIMAL', {
    columns: 'A',
    functions: 'SUM',
    references: 'calculation:12 variable:3',
    is: 'aggregated',
  }),
  of('SUM(SUM(`A`) FIXED (BY SERVICE_BEAST_MODE(12)))', 'DECIMAL', {
    columns: 'A',
    functions: 'SUM',
    references: 'calculation:12',
    is: 'aggregated',
  }),
  of('SERVICE_OP_ADD(`A`, 1)', 'DECIMAL', { columns: 'A', functions: 'SERVICE_OP_ADD' }),
  of('ABS(-1) + MOD(7, 2) + ROUND(1.25, 1) + CEILING(.5) + FLOOR(1.5) + POWER(2, 3) + RAND()', 'DOUBLE', {
    functions: 'ABS CEILING FLOOR MOD POWER RAND ROUND SERVICE_OP_ADD',
  }),
  of('IFNULL(`A`, 0) + COALESCE(`B`, `C`, 0)', 'LONG', {
    columns: 'A|B|C',
    functions: 'COALESCE IFNULL SERVICE_OP_ADD',
  }),
  of(
    "CONCAT(UPPER(LEFT(`A`, 1)), LOWER(SUBSTRING(`A`, 2)), TRIM(RIGHT(`B`, 3)), REPLACE(`A`, '-', ''))",
    'STRING',
    {
      columns: 'A|B',
      functions: 'CONCAT LEFT LOWER REPLACE RIGHT SUBSTRING TRIM UPPER',
    },
  ),
  of("INSTR(`A`, '@') - LENGTH(`A`)", 'LONG', {
    columns: 'A',
    functions: 'INSTR LENGTH SERVICE_OP_SUBTRACT',
  }),
  of('Current_Date', 'DATE', { functions: 'CURRENT_DATE' }),
  of('DateDiff(Current_Date(), `D`)', 'LONG', { columns: 'D', functions: 'CURRENT_DATE DATEDIFF' }),
  of('DATE_ADD(`D`, INTERVAL 1 MONTH)', 'DATE', { columns: 'D', functions: 'DATE_ADD' }),
  of('DATE_SUB(CURDATE(), INTERVAL DAYOFMONTH(CURDATE()) - 1 DAY)', 'DATE', {
    functions: 'CURDATE DATE_SUB DAYOFMONTH SERVICE_OP_SUBTRACT',
  }),
  of('ADDDATE(`D`, -1)', 'DATE', { columns: 'D', functions: 'ADDDATE' }),
  of('SUBDATE(`D`, interval -`N` week)', 'DATE', { columns: 'D|N', functions: 'SUBDATE' }),
  of("`D` + INTERVAL '1' DAY", 'DATE', { columns: 'D', functions: 'SERVICE_OP_ADD' }),
  of("DATE_ADD(`D`, INTERVAL '1:30' MINUTE_SECOND)", 'DATETIME', { columns: 'D', functions: 'DATE_ADD' }),
  of('LAST_DAY(`D`) = LAST_DAY(NOW() - INTERVAL 2 HOUR)', 'LONG', {
    columns: 'D',
    functions: 'LAST_DAY NOW SERVICE_OP_SUBTRACT',
  }),
  of("DATE_FORMAT(`D`, '%Y-%m')", 'STRING', { columns: 'D', functions: 'DATE_FORMAT' }),
  of("STR_TO_DATE(`A`, '%d.%m.%Y')", 'DATETIME', { columns: 'A', functions: 'STR_TO_DATE' }),
  of('WEEKDAY(`D`) + WEEKOFYEAR(`D`) + WEEK(`D`, 3) + YEARWEEK(`D`)', 'LONG', {
    columns: 'D',
    functions: 'SERVICE_OP_ADD WEEK WEEKDAY WEEKOFYEAR YEARWEEK',
  }),
  of('CONCAT(MONTHNAME(`D`), DAYNAME(`D`), QUARTER(`D`), DAYOFYEAR(`D`), DAYOFWEEK(`D`))', 'STRING', {
    columns: 'D',
    functions: 'CONCAT DAYNAME DAYOFWEEK DAYOFYEAR MONTHNAME QUARTER',
  }),
  of('SEC_TO_TIME(TIME_TO_SEC(TIMEDIFF(`A`, `B`)))', 'STRING', {
    columns: 'A|B',
    functions: 'SEC_TO_TIME TIMEDIFF TIME_TO_SEC',
  }),
  of('FROM_UNIXTIME(UNIX_TIMESTAMP(`D`))', 'DATETIME', {
    columns: 'D',
    functions: 'FROM_UNIXTIME UNIX_TIMESTAMP',
  }),
  of('PERIOD_DIFF(PERIOD_ADD(202601, 2), 202501)', 'LONG', { functions: 'PERIOD_ADD PERIOD_DIFF' }),
  of('TO_DAYS(`D`) - TO_DAYS(FROM_DAYS(1))', 'LONG', {
    columns: 'D',
    functions: 'FROM_DAYS SERVICE_OP_SUBTRACT TO_DAYS',
  }),
  of('ADDTIME(CURTIME(), SUBTIME(CURRENT_TIME, TIME(`D`)))', 'STRING', {
    columns: 'D',
    functions: 'ADDTIME CURRENT_TIME CURTIME SUBTIME TIME',
  }),
  of('TIMESTAMP(`D`) > SYSDATE()', 'LONG', { columns: 'D', functions: 'SYSDATE TIMESTAMP' }),
  of("TIME_FORMAT(`D`, '%H')", 'STRING', { columns: 'D', functions: 'TIME_FORMAT' }),
  of('-- a comment with `no column`\nSUM(`A`) -- and one\n/* `nor here` */', 'DECIMAL', {
    columns: 'A',
    functions: 'SUM',
    is: 'aggregated',
  }),
  of('/**/`A`/* * / */', 'STRING', { columns: 'A' }),
  of('\u00a0`A`\u3000\t+\r1\n', 'DECIMAL', { columns: 'A', functions: 'SERVICE_OP_ADD' }),
  of('((((`A`))))', 'STRING', { columns: 'A' }),
  of(`${'('.repeat(100)}1${')'.repeat(100)}`, 'LONG'),
];

/** Syntax that the platform is not known to accept: it is parsed anyway, with a warning. */
const warned: readonly CorpusFormula[] = [
  of('SQRT(`A`)', 'DOUBLE', { columns: 'A', functions: 'SQRT', warned: 'SQRT' }),
  of("CONVERT_TZ(`D`, 'UTC', 'Europe/Berlin')", 'DATETIME', {
    columns: 'D',
    functions: 'CONVERT_TZ',
    warned: 'CONVERT_TZ',
  }),
  of('NTILE(4) OVER (ORDER BY SUM(`A`))', 'LONG', {
    columns: 'A',
    functions: 'NTILE SUM',
    is: 'aggregated analytic',
    warned: 'NTILE',
  }),
  of('percent_rank() over (order by `A`)', 'DOUBLE', {
    columns: 'A',
    functions: 'PERCENT_RANK',
    is: 'analytic',
    warned: 'PERCENT_RANK',
  }),
  of('ROW_NUMBER() OVER (PARTITION BY `A` ORDER BY `B`)', 'LONG', {
    columns: 'A|B',
    functions: 'ROW_NUMBER',
    is: 'analytic',
    warned: 'ROW_NUMBER',
  }),
  of('FIRST_VALUE(`A`) OVER (ORDER BY `B`)', 'STRING', {
    columns: 'A|B',
    functions: 'FIRST_VALUE',
    is: 'analytic',
    warned: 'FIRST_VALUE',
  }),
  of('MEDIAN(LENGTH(`A`))', 'LONG', {
    columns: 'A',
    functions: 'LENGTH MEDIAN',
    is: 'aggregated',
    warned: 'MEDIAN',
  }),
  of("SUBSTRING_INDEX(`A`, '-', -1)", 'STRING', {
    columns: 'A',
    functions: 'SUBSTRING_INDEX',
    warned: 'SUBSTRING_INDEX',
  }),
  of("IF(`A` > 1, 'x', NULL)", 'STRING', { columns: 'A', functions: 'IF', warned: 'IF' }),
  of('NO_SUCH_THING(`A`, SUM(`B`))', 'STRING', {
    columns: 'A|B',
    functions: 'NO_SUCH_THING SUM',
    is: 'aggregated',
    warned: 'NO_SUCH_THING',
  }),
  of('ISNULL(`A`) OR NVL(`B`, 0)', 'LONG', { columns: 'A|B', functions: 'ISNULL NVL', warned: 'ISNULL NVL' }),
  of('GREATEST(`A`, 1, LEAST(2, `B`))', 'LONG', {
    columns: 'A|B',
    functions: 'GREATEST LEAST',
    warned: 'GREATEST LEAST',
  }),
  of('TRUNCATE(`A`, 2) + CEIL(`B`) + POW(2, 3)', 'DOUBLE', {
    columns: 'A|B',
    functions: 'CEIL POW SERVICE_OP_ADD TRUNCATE',
    warned: 'TRUNCATE CEIL POW',
  }),
  of('STDDEV(`A`) + VARIANCE(`A`)', 'DOUBLE', {
    columns: 'A',
    functions: 'SERVICE_OP_ADD STDDEV VARIANCE',
    is: 'aggregated',
    warned: 'STDDEV VARIANCE',
  }),
  of('CASE WHEN `A` = "x" THEN "it\'s" ELSE "" END', 'STRING', {
    columns: 'A',
    warned: 'quotes quotes quotes',
  }),
  of('"a ""b"" \\" c"', 'STRING', { warned: 'quotes' }),
  of('SUM(Sales)', 'DECIMAL', { columns: 'Sales', functions: 'SUM', is: 'aggregated', warned: 'Sales' }),
  of("CASE WHEN Region = 'EMEA' THEN Net_Amount2 END", 'STRING', {
    columns: 'Region|Net_Amount2',
    warned: 'Region Net_Amount2',
  }),
  of('Größe * Année', 'DECIMAL', {
    columns: 'Größe|Année',
    functions: 'SERVICE_OP_MULTIPLY',
    warned: 'Größe Année',
  }),
  of('Date + Year + Month + Rank + Left', 'DECIMAL', {
    columns: 'Date|Year|Month|Rank|Left',
    functions: 'SERVICE_OP_ADD',
    warned: 'Date Year Month Rank Left',
  }),
  of('YEAR(Date)', 'LONG', { columns: 'Date', functions: 'YEAR', warned: 'Date' }),
  of('SUM(Order) + SUM(Filter) + MAX(First)', 'DECIMAL', {
    columns: 'Order|Filter|First',
    functions: 'MAX SERVICE_OP_ADD SUM',
    is: 'aggregated',
    warned: 'Order Filter First',
  }),
  of('SUM([Net Amount]) / [Count]', 'DECIMAL', {
    columns: 'Net Amount|Count',
    functions: 'SERVICE_OP_DIVIDE SUM',
    is: 'aggregated',
    warned: 'brackets brackets',
  }),
  of('[a]]b]', 'STRING', { columns: 'a]b', warned: 'brackets' }),
  of('`orders`.`Net Amount`', 'STRING', { columns: 'Net Amount', warned: 'table' }),
  of('o.amount', 'STRING', { columns: 'amount', warned: 'table amount' }),
  of('SUM(`A`) # in total', 'DECIMAL', { columns: 'A', functions: 'SUM', is: 'aggregated', warned: '#' }),
  of('SUM(`A`);\n', 'DECIMAL', { columns: 'A', functions: 'SUM', is: 'aggregated', warned: ';' }),
  of('SUM(`A`)\u200b', 'DECIMAL', { columns: 'A', functions: 'SUM', is: 'aggregated', warned: 'invisible' }),
  of('`A` DIV 2', 'DECIMAL', { columns: 'A', functions: 'SERVICE_OP_DIVIDE', warned: 'DIV' }),
  of('`A` MOD 2', 'DECIMAL', { columns: 'A', functions: 'MOD', warned: 'MOD' }),
  of('`A` xor `B`', 'LONG', { columns: 'A|B', warned: 'XOR' }),
  of("`A` RLIKE '^x'", 'LONG', { columns: 'A', warned: 'RLIKE' }),
  of("`A` NOT REGEXP 'x$' AND `B`", 'LONG', { columns: 'A|B', warned: 'REGEXP' }),
  of("`A` LIKE '50!%' ESCAPE '!'", 'LONG', { columns: 'A', warned: 'ESCAPE' }),
  of('CAST(`A` AS DECIMAL(10, 2))', 'DECIMAL', { columns: 'A', functions: 'CAST', warned: 'CAST AS' }),
  of('cast(`A` as unsigned integer) + 1', 'LONG', {
    columns: 'A',
    functions: 'CAST SERVICE_OP_ADD',
    warned: 'CAST AS',
  }),
  of('CAST(SUM(`A`) AS CHAR)', 'STRING', {
    columns: 'A',
    functions: 'CAST SUM',
    is: 'aggregated',
    warned: 'CAST AS',
  }),
  of('CAST(`D` AS DATE)', 'DATE', { columns: 'D', functions: 'CAST', warned: 'CAST AS' }),
  of('CONVERT(`A`, SIGNED)', 'LONG', { columns: 'A', functions: 'CONVERT', warned: 'CONVERT' }),
  of('CONVERT(`A` USING utf8mb4)', 'STRING', { columns: 'A', functions: 'CONVERT', warned: 'CONVERT USING' }),
  of('EXTRACT(YEAR FROM `D`)', 'LONG', { columns: 'D', functions: 'EXTRACT', warned: 'EXTRACT FROM' }),
  of('extract(year_month from now())', 'LONG', { functions: 'EXTRACT NOW', warned: 'EXTRACT FROM' }),
  of('TIMESTAMPDIFF(MONTH, `A`, `B`)', 'LONG', {
    columns: 'A|B',
    functions: 'TIMESTAMPDIFF',
    warned: 'TIMESTAMPDIFF',
  }),
  of("DATE_TRUNC('month', `D`)", 'STRING', { columns: 'D', functions: 'DATE_TRUNC', warned: 'DATE_TRUNC' }),
  of('DATEDIFF(day, `A`, `B`)', 'LONG', { columns: 'A|B', functions: 'DATEDIFF', warned: 'DATEDIFF' }),
  of("TRIM(BOTH '-' FROM `A`)", 'STRING', { columns: 'A', functions: 'TRIM', warned: 'BOTH FROM' }),
  of("TRIM('-' FROM `A`)", 'STRING', { columns: 'A', functions: 'TRIM', warned: 'FROM' }),
  of("POSITION('@' IN `A`)", 'LONG', { columns: 'A', functions: 'POSITION', warned: 'POSITION IN' }),
  of('SUBSTRING(`A` FROM 2 FOR 3)', 'STRING', { columns: 'A', functions: 'SUBSTRING', warned: 'FROM FOR' }),
  of("GROUP_CONCAT(DISTINCT `A` ORDER BY `B` DESC, `C` SEPARATOR ', ')", 'STRING', {
    columns: 'A|B|C',
    functions: 'GROUP_CONCAT',
    is: 'aggregated',
    warned: 'GROUP_CONCAT ORDER SEPARATOR',
  }),
  of("`D` >= DATE '2026-01-31'", 'LONG', { columns: 'D', warned: 'DATE' }),
  of("TIMESTAMP'2026-01-31 10:00:00'", 'DATETIME', { warned: 'TIMESTAMP' }),
  of("X'1F'", 'STRING', { warned: 'X' }),
  of('SUM(`A`) OVER (ORDER BY `D` ROWS BETWEEN 6 PRECEDING AND CURRENT ROW)', 'DECIMAL', {
    columns: 'A|D',
    functions: 'SUM',
    is: 'aggregated analytic',
    warned: 'ROWS',
  }),
  of('AVG(`A`) OVER (ORDER BY `D` ROWS UNBOUNDED PRECEDING)', 'DOUBLE', {
    columns: 'A|D',
    functions: 'AVG',
    is: 'aggregated analytic',
    warned: 'ROWS',
  }),
  of('SUM(`A`) OVER (ORDER BY `D` RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND `N` FOLLOWING)', 'DECIMAL', {
    columns: 'A|D|N',
    functions: 'SUM',
    is: 'aggregated analytic',
    warned: 'RANGE INTERVAL',
  }),
  of('RANK() OVER (ORDER BY `A` DESC NULLS LAST)', 'LONG', {
    columns: 'A',
    functions: 'RANK',
    is: 'analytic',
    warned: 'NULLS',
  }),
  of('LAST_VALUE(`A`) IGNORE NULLS OVER (ORDER BY `D`)', 'STRING', {
    columns: 'A|D',
    functions: 'LAST_VALUE',
    is: 'analytic',
    warned: 'LAST_VALUE IGNORE',
  }),
  of('LEAD(`A` RESPECT NULLS) OVER (ORDER BY `D`)', 'STRING', {
    columns: 'A|D',
    functions: 'LEAD',
    is: 'analytic',
    warned: 'RESPECT',
  }),
  of('RANK()', 'LONG', { functions: 'RANK', is: 'analytic', warned: 'RANK' }),
  of('SUM(`A`) FIXED (BY `B`)', 'DECIMAL', {
    columns: 'A|B',
    functions: 'SUM',
    is: 'aggregated',
    warned: 'FIXED',
  }),
  of('SUM(SUM(Sales) FIXED (BY Region FILTER ALLOW [Order Date]))', 'DECIMAL', {
    columns: 'Sales|Region|Order Date',
    functions: 'SUM',
    is: 'aggregated',
    warned: 'Sales Region brackets',
  }),
  of('ROUND(`A`, 1, 2)', 'STRING', { columns: 'A', functions: 'ROUND', warned: 'ROUND' }),
  of('AVG(DISTINCT `A`)', 'DOUBLE', { columns: 'A', functions: 'AVG', is: 'aggregated', warned: 'AVG' }),
  of('`D` + INTERVAL 2 DAYS', 'DATE', { columns: 'D', functions: 'SERVICE_OP_ADD', warned: 'DAYS' }),
  of('SERVICE_BEAST_MODE(`A`)', 'STRING', { columns: 'A', warned: 'SERVICE_BEAST_MODE' }),
  of('HLL_SKETCH_INIT(`A`, 3)', 'STRING', {
    columns: 'A',
    functions: 'HLL_SKETCH_INIT',
    warned: 'HLL_SKETCH_INIT',
  }),
];

export const corpus: readonly CorpusFormula[] = [...plain, ...warned];

/** Broken formulas, with the line and column of the fault, and its message. */
export const broken: readonly (readonly [formula: string, place: string, expected: string])[] = [
  ['', '1:1', 'Expected a value'],
  ['SUM(`A`', '1:8', 'Expected ")"'],
  ['SUM(`A`))', '1:9', 'has no matching "("'],
  ['SUM(`A`) +', '1:11', 'Expected a value'],
  ['`A` * / 3', '1:7', 'Expected a value'],
  ["CASE WHEN `A` = 1 THEN 'x'", '1:27', 'Expected END'],
  ['CASE WHEN `A` THEN END', '1:20', 'Expected a value'],
  ['CASE WHEN\n  THEN 1 END', '2:3', 'Expected a value'],
  ["`A` = 'x", '1:7', 'not closed'],
  ['`A = 1', '1:1', 'not closed'],
  ['[A = 1', '1:1', 'not closed'],
  ['"A', '1:1', 'not closed'],
  ['1 /* to do', '1:3', 'not closed'],
  ['CONCAT(`A`,, `B`)', '1:12', 'Expected a value'],
  ['CONCAT(`A`, )', '1:13', 'Expected a value'],
  ['`A` IN ()', '1:9', 'Expected a value'],
  ['`A` IN (1, 2', '1:13', 'Expected ")"'],
  ['`A` BETWEEN 1 OR 2', '1:15', 'Expected AND'],
  ['`A` `B`', '1:5', 'Expected an operator'],
  ['‘Closed Won’', '1:1', 'Unexpected ‘'],
  ['DATE_ADD(`D`, INTERVAL 1)', '1:25', 'Expected a unit'],
  ['SUM()', '1:1', 'SUM takes 1 argument'],
  ['IFNULL(`A`)', '1:1', 'IFNULL takes 2 arguments'],
  ['SUM(SUM(`A`) FIXED (BY))', '1:23', 'Expected a column'],
  ['RANK() OVER (PARTITION `A`)', '1:24', 'Expected BY'],
];
