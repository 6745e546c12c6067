# cmake -D FROM=index.html -D TO=index.html.inc -P ReseqEmbed.cmake: a text file as a C++ string.
file(READ "${FROM}" text)
string(FIND "${text}" ")reseq_embed\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${FROM} holds what would end the string")
endif()
file(WRITE "${TO}" "R\"reseq_embed(${text})reseq_embed\"\n")
