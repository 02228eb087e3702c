-- Formulas that platform-sync set, each with the formula that it had set before, which an undo would restore.
SELECT
  calculation_id,
  name,
  modified_at,
  status,
  lag(expression) OVER (PARTITION BY calculation_id ORDER BY modified_at) AS formula_before,
  expression
FROM formula_log
ORDER BY calculation_id, modified_at
