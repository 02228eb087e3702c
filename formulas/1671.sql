-- platform-sync formula 1671
-- name: Σ Cost OLD
RANK() OVER (ORDER BY SUM(`Impressions`) DESC)
