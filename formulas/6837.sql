-- platform-sync formula 6837
-- name: Σ Closed At
POWER(1 + `Headcount` / NULLIF(`Discount`, 0), 12) - 1
