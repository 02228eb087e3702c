-- platform-sync formula 6656
-- name: Is Late
SUM(`Latitude`) / SUM(SUM(`Impressions`) FIXED ())
