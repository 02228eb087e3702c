-- platform-sync formula 2088
-- name: Is Late
SUM(`Umsatz (€)`) - LAG(SUM(`Cost`), 1) OVER (ORDER BY `Closed At`)
