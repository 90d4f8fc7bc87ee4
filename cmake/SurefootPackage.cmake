# cpack -G DEB, in a folder of preset package (scripts/deb): program, library, headers, manual pages, completions and licences in one package.
set(CPACK_PACKAGE_NAME surefoot)
set(CPACK_PACKAGE_VENDOR "The Surefoot maintainers")
set(CPACK_PACKAGE_CONTACT "The Surefoot maintainers <surefoot@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION
"How good is an optimizer's answer after k steps, on a problem that it has not seen?
 Counts failures among independent sample problems and turns the counts into
 statements that hold with stated confidence: success rates, quantiles and
 iteration budgets, with certificates that anyone can check.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
# Figures; then what programs that use the library are compiled with.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gnuplot-nox | gnuplot, poppler-utils, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, libeigen3-dev, libfmt-dev, librandom123-dev, libgtest-dev")
set(CPACK_GENERATOR DEB)
include(CPack)
