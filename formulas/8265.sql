-- platform-sync formula 8265
-- name: Rank of Score
SUM(SUM(`Discount`) FIXED (BY `Segment`))
