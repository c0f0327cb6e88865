# Makes of testudo.h a program in C that prints the place of every field: "WorldDef.gravity 0", and the size: "WorldDef 112".
BEGIN { print "#include <stdio.h>\n#include \"testudo.h\"\n#define P(s, f) printf(#s \".\" #f \" %zu\\n\", offsetof(Testudo##s, f));\nint main(void) {" }
/^typedef struct Testudo[A-Za-z0-9]+ \{/ { name = substr($3, 8); inside = 1; next }
inside && /^\}/ { printf "  printf(\"%s %%zu\\n\", sizeof(Testudo%s));\n", name, name; inside = 0; next }
inside && /^  [A-Za-z]/ {
  field = $0
  if (match(field, /\(\*[a-z_0-9]+\)/)) field = substr(field, RSTART + 2, RLENGTH - 3) # a function pointer
  else { sub(/;.*/, "", field); sub(/\[.*/, "", field); sub(/.*[ *]/, "", field) }
  printf "  P(%s, %s)\n", name, field
}
END { print "  return 0;\n}" }
