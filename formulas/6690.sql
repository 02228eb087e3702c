-- platform-sync formula 6690
-- name: Rank of Store # OLD
SUM(`Impressions`) - LAG(SUM(`Impressions`), 1) OVER (ORDER BY `Due Date`)
