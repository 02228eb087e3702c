-- platform-sync formula 3104
-- name: Ø SKU v2
SUM(`Conversion Rate`) / SUM(SUM(`Visits`) FIXED ())
