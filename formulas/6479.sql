-- platform-sync formula 6479
-- name: Margin % - DO NOT USE
SUM(`Cost`) - LAG(SUM(`Umsatz (€)`), 1) OVER (ORDER BY `Created At`)
