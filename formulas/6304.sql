-- platform-sync formula 6304
-- name: Max Updated At
SUM(`Discount`) / SUM(SUM(`Score`) FIXED ())
