# Prints the total of a cart: the sum of its prices, minus a tenth from 100 on.
total() {
  sum=0
  for price in "$@"; do sum=$((sum + price)); done
  if [ "$sum" -gt 100 ]; then sum=$((sum - sum / 10)); fi
  echo "$sum"
}
