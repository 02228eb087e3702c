-- Formulas that updates of ours stored, with the one that our update before it stored: what an undo would set again.
SELECT
  calculation_id,
  name,
  modified_at,
  status,
  lag(expression) OVER (PARTITION BY calculation_id ORDER BY modified_at) AS formula_before,
  expression
FROM formula_log
ORDER BY calculation_id, modified_at
