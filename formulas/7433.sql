-- platform-sync formula 7433
-- name: Max Net Price test
CASE WHEN DateDiff(Current_Date(), `Order Date`) <= 30 AND `Created At` < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END
