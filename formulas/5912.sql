-- platform-sync formula 5912
-- name: Churn
(SUM(`Umsatz (€)`) - SUM(`Net Price`)) / NULLIF(SUM(`Revenue`), 0) * 100
