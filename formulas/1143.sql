-- platform-sync formula 1143
-- name: Customer Name
CASE WHEN DateDiff(Current_Date(), `Order Date`) <= 30 AND `Created At` < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END
