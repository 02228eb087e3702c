-- platform-sync formula 3604
-- name: Segment
(SUM(`Discount`) - SUM(`Discount`)) / NULLIF(SUM(`売上`), 0) * 100
