# Prints the slug of a title: lower case, with one hyphen between words.
slug() {
  echo "$1" | tr 'A-Z ' 'a-z-'
}
