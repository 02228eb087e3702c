-- platform-sync formula 2893
-- name: 前年比 test
AVG(SUM(`Revenue`) FIXED (ADD `Currency`, `Updated At`))
