-- platform-sync formula 3932
-- name: Distinct Discount
SUM(`Score`) / COUNT(DISTINCT `Straße`)
